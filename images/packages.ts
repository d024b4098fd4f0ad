/** Which installed packages a set of compiled files needs, found where Node would find them. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { contents, isNodePackage, type ProgramFolder, packageOf } from './contents.ts'

/** An installed package. */
export interface InstalledPackage {
  readonly name: string
  readonly folder: string
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Compiled modules begin their imports at the start of a line. */
const importPattern =
  /^(?:import|export)\b[^'"`;=]*\bfrom\s*['"](?<bound>[^'"\n]+)|(?:^import\s*|\bimport\(\s*)['"](?<bare>[^'"\n]+)/gm

/** Packages that compiled files import, in any order, each once. */
export function importedPackages(texts: readonly string[]): string[] {
  const specifiers = texts.flatMap((text) =>
    [...text.matchAll(importPattern)].map(({ groups }) =>
      packageOf(groups?.['bound'] ?? groups?.['bare'] ?? ''),
    ),
  )
  return [...new Set(specifiers.filter((name) => name !== null))]
}

/** The packages that a folder of programs goes with, by the texts of its compiled files. */
export function packagesOf(
  root: string,
  name: ProgramFolder,
  texts: readonly string[],
): InstalledPackage[] {
  const { loaded, absent } = contents[name]
  const imported = importedPackages(texts).filter((found) => !absent.includes(found))
  return packageClosure(root, [...imported, ...loaded])
}

/** The packages of these names as `root` sees them, and all that they need in turn. */
export function packageClosure(root: string, names: readonly string[]): InstalledPackage[] {
  const found = new Map<string, InstalledPackage>()
  const visit = (from: string, name: string, isOptional: boolean): void => {
    const folder = findPackage(from, name)
    if (folder === null) {
      if (isOptional) return
      throw new Error(`${name}, which ${from} needs, is not installed`)
    }
    if (found.has(folder)) return
    found.set(folder, { name, folder })
    for (const need of needsOf(folder)) visit(folder, need.name, need.isOptional)
  }
  for (const name of names) visit(root, name, false)
  return [...found.values()]
}

interface Need {
  readonly name: string
  readonly isOptional: boolean
}

function needsOf(folder: string): Need[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest
  const peers = Object.keys(peerDependencies).filter(
    (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
  )
  const optional = Object.keys(optionalDependencies)
  const required = [...Object.keys(dependencies), ...peers].filter(
    (name) => !optional.includes(name),
  )
  return [
    ...required.map((name) => ({ name, isOptional: false })),
    ...optional.map((name) => ({ name, isOptional: true })),
  ].filter(({ name }) => isNodePackage(name) && !name.startsWith('@types/'))
}

/** Node's own search: `node_modules` of the folder, then of each one above. */
function findPackage(from: string, name: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (folder === dirname(folder)) return null
  }
}
