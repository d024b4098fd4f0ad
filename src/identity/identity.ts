/**
 * Who a node is: a signing key in the key directory, one encrypted file per program, and the
 * libp2p seed that follows from the keyring secret. A key is made once and never overwritten.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { ServiceError } from '../errors.ts'
import { createKeyFile, readKeyFile } from './key-directory.ts'
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
 * Opens this program's key, making it on the first run. Throws IDENTITY_SECRET_MISSING,
 * IDENTITY_LOCKED, IDENTITY_DAMAGED, IDENTITY_PERMISSION or IDENTITY_DIRECTORY_UNUSABLE.
 */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  if (options.secret === '') {
    throw new ServiceError('IDENTITY_SECRET_MISSING', 'the keyring secret is empty', {
      remedy: 'Set DB_KEYRING_SECRET, or DB_KEYRING_SECRET_FILE to a file that holds it.',
    })
  }
  const existing = await readKeyFile(options.keyPath, options.program)
  const signerKey =
    existing === null ? await createKey(options) : await openKey(existing, options.secret)
  const peerSeed = await derivePeerSeed(options.secret, options.program)
  return { signer: createSigner(signerKey), signerKey, peerSeed, created: existing === null }
}

async function createKey(options: IdentityOptions): Promise<SignerKey> {
  const key = { type: 'ES256K', privateKey: secp256k1.utils.randomSecretKey() } as const
  const content = await sealKey(key, options.program, options.secret)
  const winner = await createKeyFile(options.keyPath, options.program, content)
  return winner === null ? key : openKey(winner, options.secret)
}
