/** What the command line has against a `viewmesh` command of a page, without running it. */
import { Readable } from 'node:stream'
import { devnetSettings } from '../../../src/devnet/config.ts'
import { generatorSettings } from '../../../src/generator/config.ts'
import { hostSettings } from '../../../src/host/config.ts'
import type { AnyTable } from '../../../src/service/settings/setting.ts'
import { readFlags } from '../../../src/service/settings/setting-flags.ts'
import { createToolkit, everyCommand } from '../../../src/toolkit/toolkit.ts'

const programs: Readonly<Record<string, AnyTable>> = {
  generator: generatorSettings,
  host: hostSettings,
  devnet: devnetSettings,
}

/** What may stand before a command of ours: settings, keywords of the shell, and what npm runs it with. */
const before = /^(?:\w+=.*|until|while|if|then|do|!|exec|npx)$/s

/** The arguments of a simple command, given in words, that runs `viewmesh`; null of any other. */
export function viewmeshArguments(words: readonly string[]): readonly string[] | null {
  const at = words.findIndex((word) => !before.test(word))
  return words[at] === 'viewmesh' ? words.slice(at + 1) : null
}

/** Nothing where the command is one of ours, with arguments and flags that it takes. */
export async function viewmeshComplaints(argv: readonly string[]): Promise<readonly string[]> {
  const [name = '', ...flags] = argv
  const table = programs[name]
  return table === undefined ? await toolkitComplaints(argv) : readFlags(table, flags).problems
}

/** Commander has checked everything when it calls what is to happen before the action. */
async function toolkitComplaints(argv: readonly string[]): Promise<readonly string[]> {
  const taken = new Error('the command line is taken')
  const output = { write: () => undefined, isTTY: false, columns: undefined }
  const program = createToolkit({
    ...{ stdin: Readable.from([]), stdout: output, stderr: output, env: {} },
    interrupt: () => undefined,
    ...{ cwd: '/nonexistent', homeFolder: '/nonexistent', signal: AbortSignal.abort() },
  })
  program.hook('preAction', () => {
    throw taken
  })
  for (const command of everyCommand(program)) command.exitOverride()
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    return error === taken ? [] : [String(error)]
  }
  return [`${argv.join(' ')} does nothing`]
}
