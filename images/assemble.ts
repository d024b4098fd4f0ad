/**
 * `node images/assemble.ts <target>` makes the folders that the images consist of from `dist` and the
 * installed packages: `<target>/service`, `<target>/toolkit`, `<target>/operator` and the empty home
 * `<target>/home`. All times and rights are set, so that the same input gives the same bytes.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { homeDirectory } from '../src/service/contract.ts'
import { contents, isUnused, type ProgramFolder, programFolders } from './contents.ts'
import { type InstalledPackage, packagesOf } from './packages.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const target = process.argv[2] ?? fail()

function fail(): never {
  throw new Error('say where to: node images/assemble.ts <target>')
}

for (const name of programFolders) {
  const folder = join(target, name)
  copyPrograms(name, folder)
  copyPackages(name, folder)
  const { onTopOf } = contents[name]
  if (onTopOf !== undefined) removeCopies(folder, join(target, onTopOf))
}
for (const name of ['keys', 'generator', 'host']) {
  mkdirSync(join(target, 'home', homeDirectory, name), { recursive: true })
}
normalise(target)

function copyPrograms(name: ProgramFolder, folder: string): void {
  const build = join(root, 'dist')
  const { built, left } = contents[name]
  for (const path of built) {
    cpSync(join(build, path), join(folder, 'dist', path), {
      recursive: true,
      filter: (from) => !left.includes(relative(build, from)),
    })
  }
  for (const file of ['package.json', 'LICENSE']) cpSync(join(root, file), join(folder, file))
  cpSync(join(root, 'images/health-check.js'), join(folder, 'health-check.js'))
}

function copyPackages(name: ProgramFolder, folder: string): void {
  const texts = filesOf(join(folder, 'dist')).map((file) => readFileSync(file, 'utf8'))
  for (const found of packagesOf(root, name, texts)) copyPackage(found, folder)
  for (const path of contents[name].served) {
    cpSync(join(root, 'node_modules', path), join(folder, 'node_modules', path))
  }
}

/** Takes out of a folder what the layer below brings. */
function removeCopies(folder: string, below: string): void {
  for (const file of filesOf(folder)) {
    if (existsSync(join(below, relative(folder, file)))) rmSync(file)
  }
}

/** To the same place below `node_modules` as in the installation, so that Node finds the same ones. */
function copyPackage({ name, folder }: InstalledPackage, to: string): void {
  cpSync(folder, join(to, relative(root, folder)), {
    recursive: true,
    filter: (path) => !isUnused(name, relative(folder, path)),
  })
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Readable by everybody, writable by the owner alone; one time for all. */
function normalise(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    chmodSync(path, entry.isDirectory() ? 0o755 : 0o644)
    utimesSync(path, 0, 0)
  }
}
