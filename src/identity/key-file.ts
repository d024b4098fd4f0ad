/**
 * The content of a key file: versioned JSON, the key encrypted with AES-256-GCM under scrypt of the
 * keyring secret (RFC 7914), and all plain fields authenticated with it.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { ServiceError } from '../errors.ts'
import { createSigner, type SignerKey } from './signature.ts'
import { stretch } from './stretch.ts'

export type KeyProgram = 'generator' | 'host'

/** A key file as found: its path for messages, and its text. */
export interface KeyFile {
  readonly path: string
  readonly program: KeyProgram
  readonly text: string
}

interface Header {
  readonly format: 'viewmesh-key'
  readonly version: 1
  readonly program: KeyProgram
  readonly type: 'ES256K'
  /** Public key in hex: shows whose key a backup holds. */
  readonly identity: string
  readonly createdAt: string
  readonly kdf: 'scrypt N=131072 r=8 p=1'
  readonly salt: string
  readonly cipher: 'aes-256-gcm'
  readonly iv: string
}

const kdf = 'scrypt N=131072 r=8 p=1'
const cipher = 'aes-256-gcm'

/** Encrypts a key into the text of a key file. */
export async function encryptKey(
  key: SignerKey & { readonly type: 'ES256K' },
  program: KeyProgram,
  secret: string,
): Promise<string> {
  const salt = randomBytes(16)
  const iv = randomBytes(12)
  const header: Header = {
    format: 'viewmesh-key',
    version: 1,
    program,
    type: key.type,
    identity: createSigner(key).identity,
    createdAt: new Date().toISOString(),
    kdf,
    salt: salt.toString('hex'),
    cipher,
    iv: iv.toString('hex'),
  }
  const sealing = createCipheriv(cipher, await stretch(secret, salt), iv)
  sealing.setAAD(authenticated(header))
  const ciphertext = Buffer.concat([sealing.update(key.privateKey), sealing.final()])
  const body = { ciphertext: ciphertext.toString('hex'), tag: sealing.getAuthTag().toString('hex') }
  return `${JSON.stringify({ ...header, ...body }, null, 2)}\n`
}

/** Decrypts a key file. Throws IDENTITY_LOCKED for a wrong secret, IDENTITY_DAMAGED otherwise. */
export async function decryptKey(file: KeyFile, secret: string): Promise<SignerKey> {
  const { header, ciphertext, tag } = parseKeyFile(file)
  const opening = createDecipheriv(
    cipher,
    await stretch(secret, Buffer.from(header.salt, 'hex')),
    Buffer.from(header.iv, 'hex'),
  )
  opening.setAAD(authenticated(header))
  opening.setAuthTag(tag)
  try {
    const privateKey = Buffer.concat([opening.update(ciphertext), opening.final()])
    return { type: header.type, privateKey: new Uint8Array(privateKey) }
  } catch (cause) {
    throw new ServiceError('IDENTITY_LOCKED', 'Failed to load existing identity', {
      facts: { file: file.path, identity: header.identity },
      remedy:
        'DB_KEYRING_SECRET differs from the first run: restore the original value and restart. If it is certainly the same, restore the key file from a backup.',
      cause,
    })
  }
}

function authenticated(header: Header): Buffer {
  return Buffer.from(JSON.stringify(header))
}

interface Parsed {
  readonly header: Header
  readonly ciphertext: Buffer
  readonly tag: Buffer
}

function parseKeyFile(file: KeyFile): Parsed {
  const fields = parseFields(file)
  const hex = (name: string, bytes: number): string => {
    const value = fields[name]
    const isHex = typeof value === 'string' && /^[0-9a-f]*$/.test(value)
    if (!isHex || value.length !== bytes * 2)
      throw damaged(file, `${name} is not ${bytes} bytes of hex`)
    return value
  }
  const text = (name: string): string => {
    const value = fields[name]
    if (typeof value === 'string') return value
    throw damaged(file, `${name} is ${JSON.stringify(value)}, not text`)
  }
  const fixed = <const T extends string | number>(name: string, expected: T): T => {
    if (fields[name] === expected) return expected
    throw damaged(
      file,
      `${name} is ${JSON.stringify(fields[name])}, not ${JSON.stringify(expected)}`,
    )
  }
  return {
    header: {
      format: fixed('format', 'viewmesh-key'),
      version: fixed('version', 1),
      program: fixed('program', file.program),
      type: fixed('type', 'ES256K'),
      identity: hex('identity', 33),
      createdAt: text('createdAt'),
      kdf: fixed('kdf', kdf),
      salt: hex('salt', 16),
      cipher: fixed('cipher', cipher),
      iv: hex('iv', 12),
    },
    ciphertext: Buffer.from(hex('ciphertext', 32), 'hex'),
    tag: Buffer.from(hex('tag', 16), 'hex'),
  }
}

function parseFields(file: KeyFile): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(file.text)
  } catch {
    throw damaged(file, 'it is not JSON')
  }
  if (typeof value === 'object' && value !== null) return { ...value }
  throw damaged(file, 'it is not a JSON object')
}

function damaged(file: KeyFile, found: string): ServiceError {
  return new ServiceError('IDENTITY_DAMAGED', `Failed to load existing identity: ${found}`, {
    facts: { file: file.path },
    remedy: 'Restore the key file from a backup, or use the version of the program that wrote it.',
  })
}
