/** The version of this program, from the package.json above it. */
import { existsSync, readFileSync } from 'node:fs'
import { invariant } from '../errors.ts'

/** Reads the version; the file is two folders up in a clone and three in a build. */
export function readVersion(): string {
  const candidates = ['../../package.json', '../../../package.json']
  const urls = candidates.map((path) => new URL(path, import.meta.url))
  const found = urls.find((url) => existsSync(url))
  invariant(found !== undefined, 'package.json lies above the sources')
  const { version } = JSON.parse(readFileSync(found, 'utf8')) as { readonly version: string }
  return version
}
