/**
 * Looks now and then at the volume that a store lies on, and says so while it is nearly full: a store that
 * meets a full volume stops (`STORE_FULL`), and until then nobody would be told.
 */
import { statfs } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { ServiceError } from '../errors.ts'
import { declareVolumeMetrics } from './metrics.ts'

/** Bytes of a volume as `df` counts them: what is kept back for root is in neither. */
export interface VolumeRoom {
  readonly bytes: number
  readonly freeBytes: number
}

export interface VolumeWatch {
  /** `STORE_NEARLY_FULL` as long as there is so little room; null otherwise, or where nobody can tell. */
  failure(): ServiceError | null
  close(): void
}

/** About what 1,000 full blocks take. Who has more free than this is not troubled, however large the disk. */
const scarceBelowBytes = 10 * 1024 ** 3
const intervalMs = 10_000

/** Whether less than a tenth of a volume is free, and less than 10 GiB. */
export function isNearlyFull({ bytes, freeBytes }: VolumeRoom): boolean {
  return freeBytes * 10 < bytes && freeBytes < scarceBelowBytes
}

/** Begins to look, every ten seconds from now on; resolves after the first look. `path` has to be there. */
export async function openVolumeWatch(
  { path }: { readonly path: string },
  { log, registry }: { readonly log: Logger; readonly registry: Registry },
): Promise<VolumeWatch> {
  let room: VolumeRoom | null = null
  let failure: ServiceError | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const look = async (): Promise<void> => {
    room = await readRoom(path).catch((error: unknown) => {
      log.debug({ err: error, path }, 'the volume of the store does not say how full it is')
      return null
    })
    const before = failure
    failure = room !== null && isNearlyFull(room) ? nearlyFull(path, room) : null
    if (before === null && failure !== null) log.warn({ err: failure }, 'the store’s volume fills')
    if (before !== null && failure === null) log.info({ path, ...room }, 'the store has room again')
    if (!isClosed) timer = setTimeout(look, intervalMs).unref()
  }
  await look()
  declareVolumeMetrics(registry, () => room)
  return {
    failure: () => failure,
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

async function readRoom(path: string): Promise<VolumeRoom> {
  const { blocks, bfree, bavail, bsize } = await statfs(path)
  return { bytes: (blocks - bfree + bavail) * bsize, freeBytes: bavail * bsize }
}

function nearlyFull(path: string, { bytes, freeBytes }: VolumeRoom): ServiceError {
  const message = `The volume of the store at ${path} is nearly full: ${freeBytes} of ${bytes} bytes are free.`
  return new ServiceError('STORE_NEARLY_FULL', message, {
    facts: { path, bytes, freeBytes },
    remedy:
      'Make the volume larger, or free space on it. Keeping fewer blocks (PRUNER_ENABLED, PRUNER_MAX_BLOCKS) stops the store from growing; its file does not shrink.',
  })
}
