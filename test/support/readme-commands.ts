/** Commands that README shows, for tests that run them as a reader would. */
import { readFileSync } from 'node:fs'
import { readme } from './readme-sections.ts'

/** Those of the one shell block that has this text in it, each with the lines it goes on in. */
export function readmeCommands(text: string): string[] {
  const blocks = [...readFileSync(readme, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)]
  const [block, ...others] = blocks
    .map(([, lines = '']) => lines)
    .filter((one) => one.includes(text))
  if (block === undefined || others.length > 0) {
    throw new Error(
      `README has ${others.length + (block === undefined ? 0 : 1)} blocks with ${text}`,
    )
  }
  return block.trimEnd().split(/(?<!\\)\n(?! )/)
}
