/** The key that a command signs with: from a file, the environment or a wallet, never from an argument. */
import { ServiceError } from '../../errors.ts'
import { usageError } from '../cli/exit-code.ts'
import type { Terminal } from '../cli/terminal.ts'
import { addressIn, addressOf, fromKeystore, parsePrivateKey } from './keystore.ts'
import { readPassword } from './password.ts'
import { readSecretText, secretPlace } from './small-file.ts'
import { readWallet, walletPath } from './wallet-files.ts'

/** Where the key may be. */
export interface KeyFlags {
  readonly wallet?: string
  readonly keyFile?: string
  readonly passwordFile?: string
}

/** A key that is opened only when something is to be signed. */
interface SigningKey {
  /** With the checksum of EIP-55. */
  readonly address: string
  /** @throws ServiceError `TOOLKIT_WALLET_LOCKED` */
  privateKey(): Promise<string>
}

const variable = 'VIEWMESH_PRIVATE_KEY'

/**
 * Finds it: `--key-file`, `--wallet`, the environment, the wallet named `default`.
 * @throws ServiceError `TOOLKIT_WALLET_MISSING`, `TOOLKIT_WALLET_INVALID`, `TOOLKIT_WALLET_LOCKED`
 */
export async function findSigningKey(terminal: Terminal, flags: KeyFlags): Promise<SigningKey> {
  const { wallet, keyFile, passwordFile } = flags
  if (wallet !== undefined && keyFile !== undefined)
    throw usageError('both --wallet and --key-file are given', 'Give one of them.')
  if (keyFile !== undefined)
    return plainKey(parsePrivateKey(await readSecretText(keyFile, terminal), secretPlace(keyFile)))
  const inEnvironment = terminal.env[variable]
  if (wallet === undefined && inEnvironment !== undefined && inEnvironment !== '')
    return plainKey(parsePrivateKey(inEnvironment, variable))
  return await walletKey(terminal, wallet ?? 'default', passwordFile)
}

function plainKey(key: string): SigningKey {
  return { address: addressOf(key), privateKey: async () => key }
}

async function walletKey(
  terminal: Terminal,
  name: string,
  passwordFile: string | undefined,
): Promise<SigningKey> {
  const path = walletPath(terminal, name)
  const text = await readWallet(terminal, name)
  const open = async (): Promise<string> =>
    fromKeystore(text, await readPassword(terminal, passwordFile), path)
  const noted = addressIn(text, path)
  if (noted === null) return plainKey(await open())
  return {
    address: noted,
    async privateKey() {
      const key = await open()
      if (addressOf(key) === noted) return key
      throw new ServiceError(
        'TOOLKIT_WALLET_INVALID',
        `${path} notes another address than its key has`,
        { remedy: 'Import the key again.' },
      )
    },
  }
}
