/**
 * The file of a backup: all that makes up the identity of a Generator or Host, as JSON. It is a secret as a
 * whole. Whoever reads one checks that its parts belong together before anything is made from it.
 */
import { ServiceError } from '../../../src/errors.ts'
import { decryptKey } from '../../../src/identity/key-file.ts'
import { createSigner } from '../../../src/identity/signature.ts'
import type { Workload } from '../../api.ts'
import { programOf } from '../../resources/names/names.ts'
import { fieldsOf, parseFields } from '../../resources/names/unchecked-json.ts'
import { keyringFingerprint } from '../../resources/secrets/keyring-secret.ts'

/** The identity of one replica. */
export interface ReplicaBackup {
  readonly ordinal: number
  /** Its key in the keyring Secret, from which its peer ID follows. */
  readonly key: string
  readonly keyringFingerprint: string
  /** The encrypted key file, as it is in the key directory. */
  readonly keyFile: string
  /** The public key it signs with, in hex. */
  readonly identity: string
  /** As the replica reported it; null where it had not yet. */
  readonly peerID: string | null
  /** UID of the claim that the key file is from. */
  readonly keysClaimUID: string
}

export interface IdentityBackup {
  readonly kind: Workload['kind']
  readonly name: string
  /** Where it was. */
  readonly namespace: string
  /** The chain that it is for, such as Ethereum__Mainnet. */
  readonly network: string
  /** The Secret with the keys, and whether a person made it (`identity.secretRef`). */
  readonly keyring: { readonly secret: string; readonly isOwn: boolean }
  /** What the keys claims asked for. */
  readonly storage: { readonly size: string; readonly storageClassName: string | null }
  /** Image of its pods; null where nobody knew. */
  readonly image: string | null
  /** RFC 3339. */
  readonly createdAt: string
  readonly replicas: readonly ReplicaBackup[]
}

const format = 'viewmesh-identity-backup'
const version = 1
const warning =
  'This is a SECRET: whoever has it can sign and run as these replicas. Keep it encrypted and away from the cluster, and never run it twice at once.'

/** Bytes of a file at most: 16 replicas with key files of 64 KiB fit several times. */
export const maxBackupBytes: number = 8 * 1_024 * 1_024
const maxText = 65_536
const maxReplicas = 100

export function backupText(backup: IdentityBackup): string {
  return `${JSON.stringify({ format, version, warning, ...backup }, null, 2)}\n`
}

/** Reads the text of a file and checks every key in it. Throws PLUGIN_BACKUP_UNUSABLE; `file` is for messages. */
export async function parseBackup(text: string, file: string): Promise<IdentityBackup> {
  const backup = readFields(parseFields(text), file)
  for (const replica of backup.replicas) await verifyReplica(backup.kind, replica, file)
  return backup
}

/** Throws PLUGIN_BACKUP_UNUSABLE where key, fingerprint, key file and identity do not belong together. */
async function verifyReplica(
  kind: Workload['kind'],
  replica: ReplicaBackup,
  source: string,
): Promise<void> {
  const { ordinal, key, keyFile, identity, keyringFingerprint: stated } = replica
  const fingerprint = await keyringFingerprint(key)
  if (fingerprint !== stated) {
    throw unusable(
      source,
      `the key of replica ${ordinal} has the fingerprint ${fingerprint}, not ${stated}`,
    )
  }
  const found = await signerIn(kind, keyFile, key, source)
  if (found !== identity) {
    throw unusable(
      source,
      `the key file of replica ${ordinal} is that of ${found}, not of ${identity}`,
    )
  }
}

/** The identity in a key file, which opens with a key of the keyring. Throws PLUGIN_BACKUP_UNUSABLE. */
export async function signerIn(
  kind: Workload['kind'],
  text: string,
  key: string,
  source: string,
): Promise<string> {
  const program = programOf({ kind })
  try {
    // Programs read their secret without line breaks at its end.
    const secret = key.replace(/[\r\n]+$/, '')
    return createSigner(await decryptKey({ path: `${program}.json`, program, text }, secret))
      .identity
  } catch (cause) {
    throw unusable(source, 'a key file does not open with its key in the keyring', cause)
  }
}

function readFields(fields: Readonly<Record<string, unknown>>, file: string): IdentityBackup {
  const refuse = (what: string): never => {
    throw unusable(file, what)
  }
  if (fields['format'] !== format) refuse('it is no backup of kubectl viewmesh')
  if (fields['version'] !== version) refuse(`its version is not ${version}`)
  const read = fieldReader(refuse)
  const { kind, replicas } = fields
  if (kind !== 'Generator' && kind !== 'Host') return refuse('kind is neither Generator nor Host')
  if (!Array.isArray(replicas) || replicas.length === 0 || replicas.length > maxReplicas) {
    return refuse('it holds no replicas')
  }
  const keyring = fieldsOf(fields['keyring'])
  const storage = fieldsOf(fields['storage'])
  const found = replicas.map((replica) => readReplica(fieldsOf(replica), read))
  if (new Set(found.map(({ ordinal }) => ordinal)).size < found.length) {
    refuse('it holds a replica twice')
  }
  return {
    kind,
    name: read.text(fields, 'name', /^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/),
    namespace: read.text(fields, 'namespace', label),
    network: read.text(fields, 'network', /^[A-Za-z0-9_]{1,128}$/),
    keyring: {
      secret: read.text(keyring, 'secret', objectName),
      isOwn: keyring['isOwn'] === true,
    },
    storage: {
      size: read.text(storage, 'size', quantity),
      storageClassName: read.textOrNull(
        storage,
        'storageClassName',
        /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$/,
      ),
    },
    image: read.textOrNull(fields, 'image', /^\S{1,512}$/),
    createdAt: read.text(fields, 'createdAt', /^[-0-9T:.Z]{1,40}$/),
    replicas: found,
  }
}

/** As the API server writes them: `1Gi`, and `1e9` where that is how it was asked for. */
const quantity = /^[0-9.]{1,20}([A-Za-z]{1,2}|[eE][+-]?\d{1,3})?$/
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const objectName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

interface FieldReader {
  text(fields: Readonly<Record<string, unknown>>, name: string, form: RegExp): string
  textOrNull(fields: Readonly<Record<string, unknown>>, name: string, form: RegExp): string | null
}

function fieldReader(refuse: (what: string) => never): FieldReader {
  const text: FieldReader['text'] = (fields, name, form) => {
    const value = fields[name]
    if (typeof value === 'string' && value.length <= maxText && form.test(value)) return value
    return refuse(`${name} is missing, or has another form`)
  }
  return {
    text,
    textOrNull: (fields, name, form) =>
      (fields[name] ?? null) === null ? null : text(fields, name, form),
  }
}

function readReplica(
  fields: Readonly<Record<string, unknown>>,
  { text, textOrNull }: FieldReader,
): ReplicaBackup {
  return {
    ordinal: Number(text({ ordinal: String(fields['ordinal']) }, 'ordinal', /^(0|[1-9]\d?)$/)),
    key: text(fields, 'key', /\S/),
    keyringFingerprint: text(fields, 'keyringFingerprint', /^[0-9a-f]{16}$/),
    keyFile: text(fields, 'keyFile', /\S/),
    identity: text(fields, 'identity', /^[0-9a-f]{66}$/),
    peerID: textOrNull(fields, 'peerID', /^[A-Za-z0-9]{1,128}$/),
    keysClaimUID: text(fields, 'keysClaimUID', /^[-0-9a-zA-Z]{1,64}$/),
  }
}

function unusable(source: string, what: string, cause?: unknown): ServiceError {
  return new ServiceError('PLUGIN_BACKUP_UNUSABLE', `${source}: ${what}`, {
    remedy: 'Take another backup; of this one nothing is used.',
    cause,
  })
}
