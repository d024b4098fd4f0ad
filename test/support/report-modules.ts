/** Preloaded with --import: writes the packages a program loaded to standard error when it ends. */
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import process from 'node:process'

const packages = new Set<string>()

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(resolved.url)?.[1]
    if (name !== undefined) packages.add(name)
    return resolved
  },
})

process.on('exit', () => writeSync(2, JSON.stringify([...packages].sort())))
