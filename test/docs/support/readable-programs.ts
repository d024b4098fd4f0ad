/**
 * A copy of the programs with the packages that they import, as in the images, where every user can read it. The
 * checkout and its packages may be readable by root alone.
 */
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { isUnused } from '../../../images/contents.ts'
import { packagesOf } from '../../../images/packages.ts'
import { makeReadable } from '../../support/other-user/leave-root.ts'
import { repository } from '../../support/repository.ts'
import { readSourceFiles } from '../../support/source-files.ts'

/** Makes the copy in a new folder and returns that. */
export function copyReadablePrograms(): string {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-readable-'))
  const texts = readSourceFiles('src').map(({ text }) => text)
  for (const { name, folder: from } of packagesOf(repository, 'service', texts)) {
    cpSync(from, join(folder, relative(repository, from)), {
      recursive: true,
      filter: (path) => !isUnused(name, relative(from, path)),
    })
  }
  for (const path of ['src', 'package.json']) {
    cpSync(join(repository, path), join(folder, path), { recursive: true })
  }
  makeReadable(folder)
  return folder
}
