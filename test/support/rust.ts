/** Rust, where the machine has it: it is no dependency of this repository. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Whether Rust can make WebAssembly on this machine. */
export function hasRust(): boolean {
  try {
    const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).trim()
    return readdirSync(join(sysroot, 'lib/rustlib')).includes('wasm32-unknown-unknown')
  } catch {
    return false
  }
}
