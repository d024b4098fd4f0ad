/** `viewmesh types --watch`: writes the module again whenever the Views are others, until it is interrupted. */
import { ServiceError } from '../../errors.ts'
import { boundedFailure, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openFolderWatch } from '../trial/watch-folders.ts'
import type { TypesSource } from './types-source.ts'

interface WrittenTypes {
  readonly outcome: 'written' | 'unchanged'
  /** For people. */
  readonly text: string
}

type Write = () => Promise<WrittenTypes>

/**
 * Runs until the signal. What fails is said once and tried again with the next change, at a Host after `pollMs`: a Host that
 * is away is no end. What was written before stays meanwhile.
 */
export async function watchTypes(
  terminal: Terminal,
  source: TypesSource,
  write: Write,
): Promise<never> {
  const watch = openFolderWatch(terminal.signal)
  try {
    for (let failure: string | null | undefined; ; ) {
      failure = await step(terminal, failure, async () => {
        for (const folder of await source.folders()) watch.add(folder)
        return await write()
      })
      const isChanged = await watch.changed(source.pollMs ?? undefined)
      // The same mistake after an edit is said again.
      if (isChanged && failure !== null) failure = undefined
    }
  } finally {
    watch.close()
  }
}

/** `failure` is what was said of one that still is, null where all is well, undefined where nothing was said yet. */
async function step(
  terminal: Terminal,
  failure: string | null | undefined,
  write: Write,
): Promise<string | null> {
  try {
    const { outcome, text } = await write()
    if (outcome === 'written' || failure !== null) say(terminal, text)
    return null
  } catch (error) {
    if (terminal.signal.aborted || !(error instanceof ServiceError)) throw error
    const text = boundedFailure(error)
    if (text !== failure) say(terminal, text)
    return text
  }
}

function say(terminal: Terminal, text: string): void {
  remark(terminal, `${text}\nwaiting for changes (Ctrl-C ends this)`)
}
