/**
 * The answers that `docs` shows below queries and commands: each is asked of a Host over a fixed chain, or of the
 * program itself.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ExampleHost, openExampleHost } from '../docs/support/example-host.ts'
import { formatJson } from '../docs/support/json-format.ts'
import { type Block, blocksIn, withTexts } from '../docs/support/page.ts'
import { repository } from '../support/repository.ts'

const run = promisify(execFile)

/** A block that is asked, and the one that shows its answer. */
interface Example {
  readonly asked: Block
  readonly variables: string | undefined
  readonly shown: Block
  /** What the JSON block above shows: `answer.json` of `viewmesh verify`. */
  readonly above: Block | undefined
}

/**
 * The page with the answers of today. Asked are ```graphql blocks (with variables where ```json variables follows) and
 * ```sh blocks with curl or `viewmesh verify`; the answer is the ```json or ```text block below. Settings of the Host may
 * stand behind `graphql`. Throws where a block has no answer below.
 */
export async function renderAnswers(page: string): Promise<string> {
  const answers = new Map<Block, string>()
  const host = await openExampleHost()
  try {
    for (const { asked, variables, shown, above } of examplesIn(page)) {
      const answer = isVerify(asked)
        ? await verdictOn(answers.get(above ?? asked) ?? '', asked.text)
        : await answerOf(host, asked, variables)
      answers.set(shown, shown.language === 'json' ? formatJson(JSON.parse(answer)) : answer)
    }
  } finally {
    await host.close()
  }
  return withTexts(page, answers)
}

/** All examples of a page that are run, in order. Throws where a block has no answer below. */
export function examplesIn(page: string): readonly Example[] {
  const blocks = blocksIn(page)
  return blocks.flatMap((asked, index) => {
    if (!isAsked(asked) || isMarkedNotRun(asked)) return []
    const [first, second] = blocks.slice(index + 1)
    const hasVariables = first?.info === 'variables'
    const shown = hasVariables ? second : first
    if (shown?.language !== 'json' && shown?.language !== 'text')
      throw new Error(`the block in line ${asked.line} is followed by no answer`)
    const variables = hasVariables ? first?.text : undefined
    return [{ asked, variables, shown, above: blocks[index - 1] }]
  })
}

const isVerify = ({ language, text }: Block): boolean =>
  language === 'sh' && text.startsWith('npx viewmesh verify ')

export const isMarkedNotRun = ({ marker }: Block): boolean =>
  marker?.startsWith('not run: ') === true

const isAsked = (block: Block): boolean =>
  block.language === 'graphql' ||
  isVerify(block) ||
  (block.language === 'sh' && block.text.startsWith('curl '))

/** The answer of the shared Host, or of one of its own where the block changes settings or the chain. */
async function answerOf(
  shared: ExampleHost,
  asked: Block,
  variables: string | undefined,
): Promise<string> {
  const command = commandOf(asked, variables)
  const isStream = asked.text.includes('subscription')
  if (!isStream && asked.info === '') return await outputOf(command, shared)
  const settings = asked.info.split(' ').map((one) => one.split('='))
  const host = await openExampleHost(asked.info === '' ? {} : Object.fromEntries(settings))
  try {
    return isStream ? await streamOf(command, host) : await outputOf(command, host)
  } finally {
    await host.close()
  }
}

/** The command of a block: a query is sent as the page says. */
function commandOf({ language, text }: Block, variables: string | undefined): string {
  if (language === 'sh') return text
  const given = variables === undefined ? {} : { variables: JSON.parse(variables) }
  const body = JSON.stringify({ query: text, ...given }).replaceAll("'", "'\\''")
  return `curl -sN http://127.0.0.1:9181/api/v0/graphql -H 'content-type: application/json' -d '${body}'`
}

/** The shell that runs a command with the ports of a Host. */
function shellOf(
  command: string,
  { apiOrigin, playgroundOrigin }: ExampleHost,
): [string, string[]] {
  const there = command
    .replace('http://127.0.0.1:9181', apiOrigin)
    .replace('http://127.0.0.1:9182', playgroundOrigin)
  return ['sh', ['-c', `exec ${there}`]]
}

async function outputOf(command: string, host: ExampleHost): Promise<string> {
  const { stdout } = await run(...shellOf(command, host))
  return stdout
}

/**
 * What a subscriber reads while a block arrives and, once that was sent, another one takes its place: an event for each.
 */
async function streamOf(command: string, host: ExampleHost): Promise<string> {
  const child = spawn(...shellOf(command, host))
  child.stdout.setEncoding('utf8')
  const steps = [() => host.addLast(), () => host.replaceLast()]
  let text = ''
  let sent = 0
  try {
    for await (const piece of child.stdout) {
      text += piece
      if (!text.endsWith('\n\n') || text.split('event: next\n').length - 1 < sent) continue
      const step = steps[sent++]
      if (step === undefined) return text
      await step()
    }
    throw new Error(`the stream ended with ${text}`)
  } finally {
    if (child.kill()) await once(child, 'close')
  }
}

/** What `viewmesh verify` says of the answer above it. */
async function verdictOn(answer: string, command: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-docs-'))
  try {
    writeFileSync(join(folder, 'answer.json'), answer)
    const args = command.trim().split(/\s+/).slice(2)
    const program = join(repository, 'src/viewmesh.js')
    const { stdout } = await run(process.execPath, [program, ...args], { cwd: folder })
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}
