/** What a Host says of the folder of its Views, in `/health` and beside its Views. */
import type { FailureReport } from '../../service/contract.ts'
import { toFailureReport } from '../../service/health/health-report.ts'
import { viewFileID } from '../../views/view-file.ts'
import { type OtherView, shortReason } from '../other-view.ts'
import type { FolderFile } from './folder-files.ts'
import type { RefusedFile } from './refusals.ts'

/** A file of the folder that is not served; of its View nothing is known but what its name says. */
interface OtherFile extends Omit<OtherView, 'id'> {
  readonly file: string
  /** Null where the name says none. */
  readonly id: string | null
}

/** The folder as `GET /api/v0/views` shows it. */
export interface FolderReport {
  /** Why it cannot be read, and what was served stays; null while it can. */
  readonly problem: string | null
  /** RFC 3339 time at which it was read last; null before the first time. */
  readonly last_read: string | null
  /** Files of Views in it. */
  readonly files: number
  /** Views that are here by it, also those of other chains. */
  readonly served: number
  /** Files that are not served. */
  readonly refused: number
  /** These, the first thousand. */
  readonly others: readonly OtherFile[]
}

interface FolderFacts {
  readonly path: string
  readonly problem: string | null
  readonly readAtMs: number | null
  readonly files: readonly FolderFile[]
  readonly served: number
  readonly refusals: ReadonlyMap<string, RefusedFile>
}

const maxOthers = 1_000
/** Refused files that `/health` names one by one. */
const maxNamed = 10
/** Longest name that is shown: a file system may have longer ones. */
const maxName = 80

export function toFolderReport(facts: FolderFacts): FolderReport {
  const { problem, readAtMs, files, served, refusals } = facts
  return {
    problem,
    last_read: readAtMs === null ? null : new Date(readAtMs).toISOString(),
    files: files.length,
    served,
    refused: refusals.size,
    others: [...refusals.values()].slice(0, maxOthers).map(toOther),
  }
}

function toOther({ file: { name }, error, address }: RefusedFile): OtherFile {
  return {
    file: name.slice(0, maxName),
    id: viewFileID(name),
    address,
    ...{ type: null, creator: null, registered_at: null },
    state: 'refused',
    reason: reasonOf(error),
  }
}

function reasonOf({ code, message }: RefusedFile['error']): string {
  return shortReason(`${code}: ${message}`)
}

/** What an operator should check, the cause before what follows from it. */
export function folderFailures({
  path,
  problem,
  served,
  refusals,
}: FolderFacts): readonly FailureReport[] {
  const refused = [...refusals.values()]
  const further = refused.length - maxNamed
  return [
    ...(problem === null ? [] : [unreadable(path, problem, served)]),
    ...refused.slice(0, maxNamed).map(toFailure),
    ...(further > 0 ? [furtherFailure(further)] : []),
  ]
}

function unreadable(path: string, problem: string, served: number): FailureReport {
  const why = problem === 'ENOENT' ? 'there is no such folder' : problem
  return {
    code: 'HOST_VIEWS_DIR_UNREADABLE',
    message: `HOST_VIEWS_DIR (${path}) cannot be read, ${why}; ${served} Views that were served of it stay.`,
    remedy: 'Make the folder, empty where there are no Views, and let the program read it.',
  }
}

function toFailure({ file, error }: RefusedFile): FailureReport {
  const report = toFailureReport(error)
  const message = `${file.name.slice(0, maxName)} of HOST_VIEWS_DIR is not served: ${reasonOf(error)}`
  return { ...report, code: 'HOST_VIEW_FILE_REFUSED', message }
}

function furtherFailure(further: number): FailureReport {
  return {
    code: 'HOST_VIEW_FILE_REFUSED',
    message: `${further} more files of HOST_VIEWS_DIR are not served.`,
    remedy: 'GET /api/v0/views lists them with their reasons, as folder.others.',
  }
}
