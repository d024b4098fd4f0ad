/**
 * The terms on which a View is registered: everything that its one transaction says beside the View. Two processes that
 * share nothing but them and the key sign the same bytes, so that one may say what the other one sends.
 */
import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'
import { toPlainError } from '../../plain-error.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import { registrationTerms } from '../../service/contract.ts'
import { toSingleLine } from '../cli/print.ts'

const hexOf = (bytes: number): z.ZodString =>
  z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`))
const amount = z.string().regex(/^\d{1,30}$/)

/** What was decided about a registration; amounts are of the smallest units of the coin. */
export interface RegistrationTerms {
  readonly id: string
  readonly address: string
  readonly creator: string
  readonly chainId: number
  /** Null where the chain knew the View already, and nothing is to be sent. */
  readonly transaction: {
    readonly hash: string
    readonly nonce: number
    readonly gas: string
    readonly maxFeePerGas: string
    readonly maxPriorityFeePerGas: string
  } | null
}

const form: z.ZodType<RegistrationTerms> = z.object({
  kind: z.literal(registrationTerms),
  id: hexOf(32),
  address: hexOf(20),
  creator: hexOf(20),
  chainId: z.int().min(1),
  transaction: z
    .object({
      hash: hexOf(32),
      nonce: z.int().min(0),
      gas: amount,
      maxFeePerGas: amount,
      maxPriorityFeePerGas: amount,
    })
    .nullable(),
})

/** What Kubernetes keeps of the message of a container that ends. */
const maxBytes = 4_096

/** @throws ServiceError `TOOLKIT_PREPARED_INVALID` */
export async function readTerms(path: string): Promise<RegistrationTerms> {
  try {
    return form.parse(JSON.parse((await readBoundedFile(path, maxBytes)).toString('utf8')))
  } catch (cause) {
    throw new ServiceError('TOOLKIT_PREPARED_INVALID', `${path} has no terms of a registration`, {
      remedy: 'Make them with --view-file and --prepare.',
      cause,
    })
  }
}

/** Writes terms, or what came of a registration, for another program: a file that is there is replaced. */
export async function writeOutcome(path: string, outcome: Readonly<object>): Promise<void> {
  await writeFile(path, `${JSON.stringify({ kind: registrationTerms, ...outcome })}\n`)
}

/** Characters, so that both texts fit into `maxBytes` whatever they hold: half a surrogate pair would be six bytes of JSON. */
const maxText = 500

/** A failure as an outcome; a part of its texts may be a stranger's. */
export function failedOutcome(error: unknown): Readonly<object> {
  const { code, message, remedy } = toPlainError(error)
  const short = (text: string | undefined): string | null =>
    text === undefined ? null : toSingleLine(text).slice(0, maxText).toWellFormed()
  return { error: { code: code ?? null, message: short(message), remedy: short(remedy) } }
}
