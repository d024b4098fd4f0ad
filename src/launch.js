/**
 * Starts a command of this package: chooses a Node that is new enough and runs its main, the sources in a
 * clone, the build in an installed package. Plain JavaScript that also an old Node can read.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as modules from 'node:module'
import { dirname, join, sep } from 'node:path'
import process, { env } from 'node:process'
import { fileURLToPath } from 'node:url'

const needed = [22, 19]
const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** @param {string} version */
function isCapable(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number)
  return major > needed[0] || (major === needed[0] && minor >= needed[1])
}

/** Sources run from a clone only: Node strips no types below node_modules. @param {string} folder */
function findMain(folder) {
  const isInstalled = root.split(sep).includes('node_modules')
  const built = [join(root, folder, 'main.js'), join(root, 'dist', folder, 'main.js')]
  const candidates = isInstalled ? built : [join(root, folder, 'main.ts'), ...built]
  return candidates.find((path) => existsSync(path))
}

/** The pinned runtime of this package or of one that contains it. */
function findNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = root; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', '.bin', name)
    if (existsSync(candidate)) {
      const { stdout, status } = spawnSync(candidate, ['--version'], { encoding: 'utf8' })
      if (status === 0 && isCapable(stdout.trim())) return candidate
    }
    if (folder === dirname(folder)) return undefined
  }
}

/** @param {string} text */
function refuse(text) {
  process.stderr.write(`viewmesh: ${text}\n`)
  process.exitCode = 1
}

/** Runs main under another Node and ends the way it ends. @param {string} node @param {string} main */
function hand(node, main) {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child itself; a second one would force it to stop.
      if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal)
    })
  }
  child.on('error', (error) => refuse(`${node} cannot be run (${error.message})`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** The folder this package finds its packages in: its own, or the one it was installed into. */
function findPackages() {
  for (let folder = root; folder !== dirname(folder); folder = dirname(folder)) {
    const packages = join(folder, 'node_modules')
    if (existsSync(packages)) return packages
  }
  return undefined
}

/**
 * Compiled code is kept beside the packages it comes from, where only who may change those can write:
 * further starts do not compile it again and, in a clone, no thread needs memory for stripping types.
 * The environment is how threads hear of it. Where the folder is not writable nothing is kept.
 */
function keepCompiledCode() {
  const packages = findPackages()
  if (packages === undefined) return
  env.NODE_COMPILE_CACHE ??= join(packages, '.cache', 'compile')
  modules.enableCompileCache()
}

/** Runs the main of a folder of this package. @param {string} folder */
export async function launch(folder) {
  const main = findMain(folder)
  if (main === undefined) {
    return refuse(`there is no build beside ${join(root, folder)}; run "npm run build"`)
  }
  if (isCapable(process.version)) {
    process.argv[1] = main
    keepCompiledCode()
    await import(`file://${main}`)
    return
  }
  const node = findNode()
  if (node !== undefined) return hand(node, main)
  refuse(
    `needs Node ${needed.join('.')} or newer, this is ${process.version}. Run "npm ci" in the package, which installs one beside it, or start with a newer Node.`,
  )
}
