/** `deployments.json` of a project: which View was deployed where, in the order of time. */
import { join } from 'node:path'
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'
import { parseBoundedJson } from '../../json-parts.ts'
import { shortList } from '../cli/short-list.ts'
import { isViewName } from './names.ts'
import { type ProjectPlaces, readProjectFile, writeProjectFile } from './project-files.ts'

/** One deployment. */
export interface Deployment {
  /** Its name in the project. */
  readonly view: string
  readonly revision: number
  readonly target: 'local' | 'devnet'
  /** When, ISO 8601. */
  readonly at: string
  /** Both IDs of the View. */
  readonly id: string
  readonly address: string
  /** The address that deployed it. */
  readonly creator: string
  /** Base URL of the Host, or of the JSON-RPC of the chain without what may be secret. */
  readonly endpoint: string
  /** Hash of the transaction and chain ID; null at a Host. */
  readonly transaction: string | null
  readonly chainId: number | null
  /** What was said of it last. */
  readonly state: 'pending' | 'registered' | 'refused'
}

const deploymentSchema: z.ZodType<Deployment> = z.strictObject({
  view: z.string().refine(isViewName),
  revision: z.int().min(1),
  target: z.enum(['local', 'devnet']),
  at: z.iso.datetime(),
  id: z.string().regex(/^0x[0-9a-f]{64}$/),
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  creator: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  endpoint: z.string().regex(/^https?:\/\/[^\s\p{C}/][^\s\p{C}]*$/u),
  transaction: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .nullable(),
  chainId: z.int().nullable(),
  state: z.enum(['pending', 'registered', 'refused']),
})
/** Of one file: as many have some 16 MiB, and 500,000 values and brackets. */
const maxDeployments = 20_000
const maxValues = 500_000
const fileSchema = z.strictObject({ deployments: shortList(deploymentSchema, maxDeployments) })

const maxBytes = 16 * 1024 * 1024

/** @throws ServiceError `TOOLKIT_DEPLOYMENTS_UNREADABLE` */
export async function readDeployments(places: ProjectPlaces): Promise<readonly Deployment[]> {
  const path = pathOf(places)
  const bytes = await readProjectFile(places, path, maxBytes)
  if (bytes === null) return []
  try {
    const text = Buffer.from(bytes).toString('utf8')
    return fileSchema.parse(parseBoundedJson(text, maxValues)).deployments
  } catch (cause) {
    throw new ServiceError('TOOLKIT_DEPLOYMENTS_UNREADABLE', `${path} cannot be read`, {
      remedy: 'Restore it from a copy, or move it away: deployments so far are then not listed.',
      cause,
    })
  }
}

/** With one more, which replaces what was said of the same View, place and transaction before. */
export function withDeployment(
  deployments: readonly Deployment[],
  added: Deployment,
): readonly Deployment[] {
  const isSame = (each: Deployment): boolean =>
    identifying.every((property) => each[property] === added[property])
  return [...deployments.filter((each) => !isSame(each)), added]
}

const identifying = ['view', 'id', 'endpoint', 'chainId', 'transaction'] as const

/** Writes all deployments; the caller holds the lock. */
export function writeDeployments(
  places: ProjectPlaces,
  deployments: readonly Deployment[],
): Promise<void> {
  return writeProjectFile(places, pathOf(places), `${JSON.stringify({ deployments }, null, 2)}\n`)
}

function pathOf({ folder }: ProjectPlaces): string {
  return join(folder, 'deployments.json')
}
