/**
 * Checks every ten seconds whether the volume that a store lies on is nearly full, and reports it: a
 * store on a full volume stops (`STORE_FULL`), and there is no other warning before.
 */
import { statfs } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { ServiceError } from '../../errors.ts'
import { declareVolumeMetrics } from './metrics.ts'

/** Bytes of a volume as `df` counts them: what is kept back for root is in neither. */
interface VolumeRoom {
  readonly bytes: number
  readonly freeBytes: number
}

export interface VolumeWatch {
  /** `STORE_NEARLY_FULL` as long as so little is free; null otherwise, or where that is not known. */
  failure(): ServiceError | null
  close(): void
}

/** About what 1,000 full blocks take. With more than this free there is no warning, however large the disk. */
const scarceBelowBytes = 10 * 1024 ** 3
const intervalMs = 10_000

/** Whether less than a tenth of a volume is free, and less than 10 GiB. */
export function isNearlyFull({ bytes, freeBytes }: VolumeRoom): boolean {
  return freeBytes * 10 < bytes && freeBytes < scarceBelowBytes
}

/** Starts checking every ten seconds; resolves after the first check. `path` has to exist. */
export async function openVolumeWatch(
  { path }: { readonly path: string },
  { log, registry }: { readonly log: Logger; readonly registry: Registry },
): Promise<VolumeWatch> {
  let room: VolumeRoom | null = null
  let failure: ServiceError | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const check = async (): Promise<void> => {
    room = await readRoom(path).catch((error: unknown) => {
      log.debug({ err: error, path }, 'the volume of the store does not say how full it is')
      return null
    })
    const before = failure
    failure = room !== null && isNearlyFull(room) ? nearlyFull(path, room) : null
    if (before === null && failure !== null) log.warn({ err: failure }, 'the store’s volume fills')
    if (before !== null && failure === null) log.info({ path, ...room }, 'the store has room again')
    if (!isClosed) timer = setTimeout(check, intervalMs).unref()
  }
  await check()
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
