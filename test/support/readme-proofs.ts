/** The blocks of README's chapter about proofs, in the order in which it shows them. */
import { readFileSync } from 'node:fs'
import { readme } from './readme-sections.ts'

export interface ReadmeProofs {
  /** What a query has to ask for. */
  readonly selection: string
  /** Asks a Host under `npm start`. */
  readonly question: string
  /** What it answered. */
  readonly answer: string
  readonly command: string
  /** What the command says of the answer. */
  readonly output: string
  /** A program that looks at `answer.json`. */
  readonly program: string
}

/** Reads them. Throws where there are more or fewer. */
export function readProofs(): ReadmeProofs {
  const [, chapter = ''] = /^## Proofs\n(.*?)^## /ms.exec(readFileSync(readme, 'utf8')) ?? []
  const blocks = [...chapter.matchAll(/^```\w*\n(.*?)\n```$/gms)].map(([, text = '']) => text)
  const [selection, question, answer, command, output, program, ...others] = blocks
  if (program === undefined || others.length > 0) throw new Error('the chapter has six blocks')
  return { selection, question, answer, command, output, program } as ReadmeProofs
}
