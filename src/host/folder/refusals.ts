/** Files of Views that are not served: why, and when it is worth trying again. */
import type { ServiceError } from '../../errors.ts'
import type { FolderFile } from './folder-files.ts'

export interface RefusedFile {
  readonly file: FolderFile
  readonly error: ServiceError
  /** The ID that the registry chain would give its View; null where its bytes are not read, or are another View. */
  readonly address: string | null
  /** It stands until fewer local Views are there than were then; null where room is not what is missing. */
  readonly untilFewerThan: number | null
  /** It stands until then even where nothing changes. */
  readonly untilMs: number
}

/** What cannot be read at one moment may be at the next; what the bytes are remains. */
const retryMs: Readonly<Record<string, number>> = {
  HOST_VIEW_FILE_UNREADABLE: 60_000,
  HOST_VIEW_CHECK_TIMEOUT: 3_600_000,
  SERVICE_THREAD_DIED: 3_600_000,
}

/** Whether a file was refused for want of room, which others may make. */
function wantsRoom({ code }: ServiceError): boolean {
  return code === 'HOST_VIEWS_FULL' || code === 'HOST_VIEW_FIELDS_FULL'
}

/** `localViews` is how many there are now. */
export function toRefusal(
  { file, error, address }: Pick<RefusedFile, 'file' | 'error' | 'address'>,
  localViews: number,
  nowMs: number,
): RefusedFile {
  return {
    file,
    error,
    address,
    untilFewerThan: wantsRoom(error) ? localViews : null,
    untilMs: nowMs + (retryMs[error.code] ?? Number.POSITIVE_INFINITY),
  }
}

/** Whether it may be otherwise by now. */
export function isOver(
  { file: before, untilFewerThan, untilMs }: RefusedFile,
  file: FolderFile,
  localViews: number,
  nowMs: number,
): boolean {
  if (before.version !== file.version || nowMs >= untilMs) return true
  return untilFewerThan !== null && localViews < untilFewerThan
}
