/** Pages of documentation, for the tests that check them and those that run what they show. */
import { readFileSync } from 'node:fs'
import { repository } from '../../support/repository.ts'

/** A fenced block of a page. */
export interface Block {
  readonly language: string
  /** What stands behind the language in the opening line. */
  readonly info: string
  /** Without the fences; ends with a newline. */
  readonly text: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  /** The marker that holds for it, such as `run: test/docs/x.test.ts`; undefined without one. */
  readonly marker: string | undefined
}

/** Text of a page by its path in the repository. */
export function readPage(path: string): string {
  return readFileSync(`${repository}/${path}`, 'utf8')
}

/** All fenced blocks of a page. A marker holds until the next one or the next heading. */
export function blocksOf(path: string): Block[] {
  return blocksIn(readPage(path))
}

const fence = /^( *)(`{3,})(\w*)(?: (.+))?$/
const markerLine = /^ *<!-- ((?:not )?run: .+) -->$/

/** All fenced blocks of a text. */
export function blocksIn(text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  let marker: string | undefined
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (/^#{1,6} /.test(line)) marker = undefined
    marker = markerLine.exec(line)?.[1] ?? marker
    const [, indent = '', ticks, language = '', info = ''] = fence.exec(line) ?? []
    if (ticks === undefined) continue
    const end = lines.indexOf(indent + ticks, at + 1)
    if (end < 0) throw new Error(`the block in line ${at + 1} has no end`)
    const inside = lines.slice(at + 1, end).map((one) => `${one.slice(indent.length)}\n`)
    blocks.push({ language, info, text: inside.join(''), line: at + 1, marker })
    at = end
  }
  return blocks
}

/** The page with other texts in some of its blocks, which are not indented. */
export function withTexts(page: string, texts: ReadonlyMap<Block, string>): string {
  const lines = page.split('\n')
  const fromBelow = [...texts].toSorted(([a], [b]) => b.line - a.line)
  for (const [{ line, text }, other] of fromBelow) {
    lines.splice(line, text.split('\n').length - 1, ...other.split('\n').slice(0, -1))
  }
  return lines.join('\n')
}

/** The commands of the one shell block with this text in it, each with the lines it goes on in. */
export function commandsOf(path: string, text: string): string[] {
  const shell = blocksOf(path).filter(({ language }) => language === 'sh')
  const [block, ...others] = shell.filter((one) => one.text.includes(text))
  if (block === undefined || others.length > 0) {
    const count = others.length + (block === undefined ? 0 : 1)
    throw new Error(`${path} has ${count} shell blocks with ${text}`)
  }
  return block.text.trimEnd().split(/(?<!\\)\n(?! )/)
}
