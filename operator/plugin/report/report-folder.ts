/** The folder of a report: new, readable by its owner alone, with files of safe names. */
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'yaml'
import { messageOf, ServiceError } from '../../../src/errors.ts'
import { printable } from '../text/printable.ts'

export interface ReportFolder {
  /** Writes lines as they come. `path` are the names of folders and the file. */
  lines(path: readonly string[], lines: AsyncIterable<string> | Iterable<string>): Promise<void>
  /** Writes objects, one document each. */
  objects(path: readonly string[], objects: readonly unknown[]): Promise<void>
}

/** Throws PLUGIN_FILE_UNUSABLE where there is something of this name already. */
export async function createReportFolder(path: string): Promise<ReportFolder> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    throw new ServiceError(
      'PLUGIN_FILE_UNUSABLE',
      `the report is not written to ${path}: ${messageOf(error)}`,
      { remedy: 'Name a folder that does not exist yet, with --filename.' },
    )
  }
  const place = async (names: readonly string[]): Promise<string> => {
    const safe = names.map(safeName)
    await mkdir(join(path, ...safe.slice(0, -1)), { recursive: true, mode: 0o700 })
    return join(path, ...safe)
  }
  return {
    lines: async (names, lines) => {
      const text = Readable.from(escaped(lines))
      await pipeline(text, createWriteStream(await place(names), { flags: 'wx', mode: 0o600 }))
    },
    objects: async (names, objects) => {
      const documents = objects.map((object) => stringify(object, { lineWidth: 0 }))
      const text = documents.join('---\n').split('\n').map(printable).join('\n')
      await writeFile(await place(names), text, { flag: 'wx', mode: 0o600 })
    },
  }
}

async function* escaped(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${printable(line)}\n`
}

/** A cluster may be anybody's: no name of it leads out of the folder. */
function safeName(name: string): string {
  return (
    name
      .replaceAll(/[^A-Za-z0-9._-]/g, '_')
      .replace(/^\.+/, '_')
      .slice(0, 200) || '_'
  )
}
