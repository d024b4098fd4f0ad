/**
 * Who a node is: a signing key in the key directory, one encrypted file per program, and the
 * libp2p seed that follows from the keyring secret. A key is made once and never overwritten.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { ServiceError } from '../errors.ts'
import { createKeyFile, readKeyFile, requireUsable } from './key-directory.ts'
import { type KeyProgram, openKey, sealKey } from './key-file.ts'
import { createSigner, type Signer, type SignerKey } from './signature.ts'
import { derivePeerSeed } from './stretch.ts'

export interface IdentityOptions {
  /** The key directory; made (0700) where it is missing. */
  readonly keyPath: string
  /** The keyring secret. */
  readonly secret: string
  readonly program: KeyProgram
}

export interface Identity {
  readonly signer: Signer
  /** What `createSigner` needs in another thread. */
  readonly signerKey: SignerKey
  /** 32 bytes, the seed of libp2p's Ed25519 key; depends on secret and program only. */
  readonly peerSeed: Uint8Array
  /** True when the key was made just now. */
  readonly created: boolean
}

/**
 * Opens this program's key, making it on the first run. Throws what `readIdentity` throws.
 */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const known = await readIdentity(options)
  return known ?? toIdentity(await createKey(options), options, true)
}

/**
 * This program's identity, or null where its key has yet to be made and can be. Writes nothing. Throws
 * IDENTITY_SECRET_MISSING, IDENTITY_LOCKED, IDENTITY_DAMAGED, IDENTITY_PERMISSION or
 * IDENTITY_DIRECTORY_UNUSABLE.
 */
export async function readIdentity(options: IdentityOptions): Promise<Identity | null> {
  if (options.secret === '') {
    throw new ServiceError('IDENTITY_SECRET_MISSING', 'the keyring secret is empty', {
      remedy: 'Set DB_KEYRING_SECRET, or DB_KEYRING_SECRET_FILE to a file that holds it.',
    })
  }
  const existing = await readKeyFile(options.keyPath, options.program)
  if (existing !== null) return toIdentity(await openKey(existing, options.secret), options, false)
  await requireUsable(options.keyPath)
  return null
}

async function toIdentity(
  signerKey: SignerKey,
  { secret, program }: IdentityOptions,
  created: boolean,
): Promise<Identity> {
  const peerSeed = await derivePeerSeed(secret, program)
  return { signer: createSigner(signerKey), signerKey, peerSeed, created }
}

async function createKey(options: IdentityOptions): Promise<SignerKey> {
  const key = { type: 'ES256K', privateKey: secp256k1.utils.randomSecretKey() } as const
  const content = await sealKey(key, options.program, options.secret)
  const winner = await createKeyFile(options.keyPath, options.program, content)
  return winner === null ? key : openKey(winner, options.secret)
}
