/** A deployment that is signed and not sent: a file for jobs that must not send twice. It holds no key. */
import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { invariant, ServiceError } from '../../errors.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import { viewIDs } from '../../views/view-id.ts'

/** A View with the one transaction that registers it. */
export interface Prepared {
  /** Its name in the project. */
  readonly view: string
  readonly revision: number
  readonly id: string
  readonly address: string
  readonly creator: string
  readonly chainId: number
  readonly wire: Uint8Array
  /** Both null where the chain knew the View already and nothing is to be sent. */
  readonly hash: string | null
  readonly raw: string | null
}

const kind = 'viewmesh/prepared-deployment/1'
const maxBytes = 4 * 1024 * 1024
const hexOf = (bytes: number): z.ZodString =>
  z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`))
const form = z.object({
  kind: z.literal(kind),
  view: z.string(),
  revision: z.int().min(1),
  creator: hexOf(20),
  chainId: z.int().min(1),
  wire: z.base64(),
  hash: hexOf(32).nullable(),
  raw: z
    .string()
    .regex(/^0x(?:[0-9a-f]{2})+$/)
    .nullable(),
})

/** Writes a new file, for its owner alone. @throws ServiceError `TOOLKIT_PREPARED_INVALID` where one is there */
export async function writePrepared(path: string, prepared: Prepared): Promise<void> {
  const { view, revision, creator, chainId, hash, raw } = prepared
  const wire = Buffer.from(prepared.wire).toString('base64')
  const text = JSON.stringify({ kind, view, revision, creator, chainId, hash, raw, wire }, null, 2)
  try {
    await writeFile(path, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true })
  } catch (cause) {
    throw invalid(`${path} cannot be written`, 'Give a path where nothing is yet.', cause)
  }
}

/**
 * Reads a prepared deployment of this View.
 * @throws ServiceError `TOOLKIT_PREPARED_INVALID`, also where its transaction is not the one that it says it is.
 */
export async function readPrepared(path: string, name: string): Promise<Prepared> {
  const found = await readForm(path)
  if (found.view !== name)
    throw invalid(`${path} is a deployment of '${found.view}'`, 'Name that View, or another file.')
  const wire = new Uint8Array(Buffer.from(found.wire, 'base64'))
  const { view, revision, creator, chainId, hash, raw } = found
  if (hash !== null && raw !== null) {
    const { transactionFaults } = await import('../../registry/precompile/signed-transaction.ts')
    const faults = await transactionFaults({ hash, raw }, { creator, chainId, wire })
    if (faults.length > 0)
      throw invalid(
        `${path} was changed: its transaction has ${faults.join(', ')}`,
        'Make it again with --prepare.',
      )
  }
  return { view, revision, ...viewIDs(creator, wire), creator, chainId, wire, hash, raw }
}

/** What the transaction itself says of its price, and of its place among those of its sender. */
export interface PreparedPrice {
  readonly gas: bigint
  /** The most that it may cost. */
  readonly fee: bigint
  readonly nonce: number
}

/** Null where nothing is to be sent. */
export async function preparedPrice({ raw }: Prepared): Promise<PreparedPrice | null> {
  if (raw === null) return null
  const { readSigned } = await import('../../registry/precompile/signed-transaction.ts')
  const signed = await readSigned(raw)
  invariant(signed !== null, 'what was prepared has been read before')
  return { gas: signed.gas, fee: signed.maxFee, nonce: signed.nonce }
}

async function readForm(path: string): Promise<z.infer<typeof form>> {
  try {
    return form.parse(JSON.parse((await readBoundedFile(path, maxBytes)).toString()))
  } catch (cause) {
    throw invalid(`${path} is not a prepared deployment`, 'Make one with --prepare.', cause)
  }
}

function invalid(message: string, remedy: string, cause?: unknown): ServiceError {
  return new ServiceError('TOOLKIT_PREPARED_INVALID', message, { remedy, cause })
}
