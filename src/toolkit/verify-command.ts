/** `viewmesh verify`: checks an answer of a Host against identities, and says what each document proves. */
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { ServiceError } from '../errors.ts'
import { hasMoreParts } from '../json-parts.ts'
import { readBounded } from '../read-bounded.ts'
import { proofSelection } from '../verify/proof.ts'
import { verifyAnswer } from '../verify/verify.ts'
import { boundedFailure } from './cli/print.ts'
import { verdictJson, verdictText } from './verdict-text.ts'

/** What the command is given beside the answer. */
export interface VerifyFlags {
  /** Accepted public keys, as `viewmesh/verify` takes them. */
  readonly identity: readonly string[]
  /** How many of them have to have signed. */
  readonly minimum: number
  /** One JSON object a document instead of a sentence. */
  readonly json?: boolean
}

/** What the command writes, and its exit code: 0 all is proven, 1 not all, 2 it could not check. */
export interface CommandResult {
  readonly exitCode: 0 | 1 | 2
  readonly stdout: string
  readonly stderr: string
}

/** Bytes of an answer: twice what a Host returns by default. */
export const maxAnswerFileBytes: number = 128 * 1024 * 1024

/** Values and brackets of an answer: one of 128 MiB has some 2,900,000. Those of as many bytes and more values take all memory. */
export const maxVerifiedValues: number = 3_000_000

/** Runs the command on a file, or on `stdin` where the name is `-`. */
export async function verifyCommand(
  name: string,
  flags: VerifyFlags,
  stdin: Readable,
): Promise<CommandResult> {
  try {
    const { identity: identities, minimum } = flags
    if (identities.length === 0) throw noIdentity()
    const source = name === '-' ? 'Standard input' : name
    const bytes = await readAnswer(name === '-' ? stdin : createReadStream(name), source)
    const verdicts = verifyAnswer(parseAnswer(bytes, source), { identities, minimum })
    if (verdicts.length === 0) throw noProof(source)
    const lines = verdicts.map(flags.json === true ? verdictJson : verdictText)
    const isProven = verdicts.every(({ verdict }) => verdict.proves === 'document')
    return { exitCode: isProven ? 0 : 1, stdout: `${lines.join('\n')}\n`, stderr: '' }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { exitCode: 2, stdout: '', stderr: `${boundedFailure(error)}\n` }
  }
}

async function readAnswer(stream: Readable, source: string): Promise<Uint8Array> {
  try {
    return await readBounded(stream, maxAnswerFileBytes)
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(source) : unreadable(source, error)
  }
}

function parseAnswer(bytes: Uint8Array, source: string): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (hasMoreParts(text, maxVerifiedValues)) throw tooMany(source)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('VERIFY_ANSWER_UNREADABLE', `${source} is not JSON in UTF-8.`, {
      remedy: 'Save the whole body that the Host answered, and nothing else.',
    })
  }
}

function tooMany(source: string): ServiceError {
  return new ServiceError(
    'VERIFY_ANSWER_UNREADABLE',
    `${source} has more than ${maxVerifiedValues} values, or is mostly blanks.`,
    { remedy: 'Ask for fewer documents at once, and save the body as the Host answered it.' },
  )
}

function tooLarge(source: string): ServiceError {
  return new ServiceError(
    'VERIFY_ANSWER_UNREADABLE',
    `${source} is larger than ${maxAnswerFileBytes} bytes.`,
    { remedy: 'Ask for fewer documents at once.' },
  )
}

function unreadable(source: string, cause: unknown): ServiceError {
  return new ServiceError('VERIFY_ANSWER_UNREADABLE', `${source} cannot be read.`, {
    remedy: 'Name a file with what the Host answered, or - for standard input.',
    cause,
  })
}

function noIdentity(): ServiceError {
  return new ServiceError('VERIFY_ACCEPTANCE_INVALID', 'No --identity is given.', {
    remedy:
      'Give the identity of each Generator whose word you take: .identity in its /health, from its operator rather than from the Host.',
  })
}

function noProof(source: string): ServiceError {
  return new ServiceError('VERIFY_PROOF_MISSING', `${source} has no document with _proof in it.`, {
    remedy: `Ask for _docID, all fields of the collection and ${proofSelection}, under their own names.`,
  })
}
