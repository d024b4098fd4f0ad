/** The commands of `viewmesh wallet`. */

import { usageError } from '../cli/exit-code.ts'
import { printResult, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { askSecret, canAsk } from './ask.ts'
import {
  addressIn,
  addressOf,
  adoptKeystore,
  fromKeystore,
  parsePrivateKey,
  type StoredKey,
  toKeystore,
} from './keystore.ts'
import { keyOfMnemonic, newMnemonic } from './mnemonic.ts'
import { choosePassword, readPassword } from './password.ts'
import { readSecretText, secretPlace } from './small-file.ts'
import { readWallet, requireNoWallet, walletPath, writeWallet } from './wallet-files.ts'

/** What all of the commands take. */
export interface WalletFlags {
  readonly json?: boolean
  readonly name?: string
  readonly passwordFile?: string
  readonly keystore?: string
  readonly keyFile?: string
  readonly mnemonicFile?: string
}

const defaultName = 'default'

/** `viewmesh wallet generate` */
export async function generateWallet(terminal: Terminal, flags: WalletFlags): Promise<void> {
  const { name = defaultName } = flags
  const path = walletPath(terminal, name)
  await requireNoWallet(path)
  const password = await choosePassword(terminal, flags.passwordFile)
  const mnemonic = newMnemonic()
  const stored = toKeystore(keyOfMnemonic(mnemonic, 'the new wallet'), password)
  await writeWallet(path, stored.text)
  showMnemonic(terminal, mnemonic)
  print(terminal, flags, '✅ Wallet generated', { name, path, address: stored.address })
}

/** `viewmesh wallet import` */
export async function importWallet(terminal: Terminal, flags: WalletFlags): Promise<void> {
  const { name = defaultName } = flags
  const path = walletPath(terminal, name)
  await requireNoWallet(path)
  const stored = await readForeign(terminal, flags)
  await writeWallet(path, stored.text)
  const facts = { name, path, address: stored.address }
  print(terminal, flags, '✅ Wallet imported successfully', facts)
}

/** `viewmesh wallet inspect`: the note in the file, or the key itself where there is none. */
export async function inspectWallet(terminal: Terminal, flags: WalletFlags): Promise<void> {
  const { name = defaultName } = flags
  const path = walletPath(terminal, name)
  const text = await readWallet(terminal, name)
  const noted = addressIn(text, path)
  const address =
    noted ?? addressOf(fromKeystore(text, await readPassword(terminal, flags.passwordFile), path))
  print(terminal, flags, `Wallet ${name}`, { name, path, address })
}

async function readForeign(terminal: Terminal, flags: WalletFlags): Promise<StoredKey> {
  const { keystore, keyFile, mnemonicFile, passwordFile } = flags
  const sources = [keystore, keyFile, mnemonicFile].filter((source) => source !== undefined)
  if (sources.length > 1) throw usageError('more than one key to import', 'Give one of the three.')
  if (sources.includes('-') && passwordFile === '-')
    throw usageError('key and password cannot both be read from standard input', 'Use a file.')
  if (keystore !== undefined) {
    const place = secretPlace(keystore)
    const text = await readSecretText(keystore, terminal)
    const password = await readPassword(terminal, passwordFile)
    return adoptKeystore(text, fromKeystore(text, password, place), place)
  }
  const key = await readKey(terminal, flags)
  return toKeystore(key, await choosePassword(terminal, passwordFile))
}

async function readKey(
  terminal: Terminal,
  { keyFile, mnemonicFile }: WalletFlags,
): Promise<string> {
  if (keyFile !== undefined)
    return parsePrivateKey(await readSecretText(keyFile, terminal), secretPlace(keyFile))
  if (mnemonicFile !== undefined)
    return keyOfMnemonic(await readSecretText(mnemonicFile, terminal), secretPlace(mnemonicFile))
  if (!canAsk(terminal))
    throw usageError(
      'no key to import',
      'Give --keystore, --key-file or --mnemonic-file; only a terminal asks for one.',
    )
  const text = await askSecret(terminal, 'Private key or mnemonic: ')
  return text.trim().includes(' ')
    ? keyOfMnemonic(text, 'what was typed')
    : parsePrivateKey(text, 'what was typed')
}

/** Where nobody sees it, a log may keep it: then the file and its password are the only way back. */
function showMnemonic(terminal: Terminal, mnemonic: string): void {
  if (terminal.stderr.isTTY === true)
    remark(terminal, `Mnemonic, shown this once; write it down on paper:\n\n  ${mnemonic}\n`)
  else
    remark(
      terminal,
      'The mnemonic is shown on a terminal only: keep a copy of the file and its password.',
    )
}

interface WalletFacts {
  readonly name: string
  readonly path: string
  readonly address: string
}

function print(terminal: Terminal, { json }: WalletFlags, title: string, facts: WalletFacts): void {
  const text = `${title}\nAddress: ${facts.address}\nFile:    ${facts.path}`
  printResult(terminal, facts, { json, text })
}
