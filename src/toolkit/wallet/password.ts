/** Passwords of wallets: from a file, the environment, or a question. Never from an argument, which others see. */
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'
import { askSecret, canAsk } from './ask.ts'
import { readSecretText } from './small-file.ts'

const variable = 'VIEWMESH_WALLET_PASSWORD'

/** The password of a wallet that is there. @throws ServiceError `TOOLKIT_WALLET_LOCKED` where nobody gives one */
export async function readPassword(terminal: Terminal, file: string | undefined): Promise<string> {
  return (await given(terminal, file)) ?? (await asked(terminal, 'Password of the wallet: '))
}

/** The password of a wallet that is made, asked for twice. @throws ServiceError `TOOLKIT_WALLET_LOCKED` */
export async function choosePassword(
  terminal: Terminal,
  file: string | undefined,
): Promise<string> {
  const password = (await given(terminal, file)) ?? (await askTwice(terminal))
  if (password !== '') return password
  throw locked('the password is empty', 'Choose one: whoever reads the file could use the key.')
}

async function given(terminal: Terminal, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return terminal.env[variable]
  return (await readSecretText(file, terminal)).replace(/\r?\n$/, '')
}

async function askTwice(terminal: Terminal): Promise<string> {
  const first = await asked(terminal, 'Password for the wallet: ')
  if (first === (await askSecret(terminal, 'Once more: '))) return first
  throw locked('the passwords differ', 'Run the command once more.')
}

async function asked(terminal: Terminal, question: string): Promise<string> {
  if (canAsk(terminal)) return await askSecret(terminal, question)
  throw locked('no password was given', `Use --password-file or ${variable}; only a terminal asks.`)
}

function locked(message: string, remedy: string): ServiceError {
  return new ServiceError('TOOLKIT_WALLET_LOCKED', message, { remedy })
}
