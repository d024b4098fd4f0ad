/** Runs `viewmesh` in the folder that is its first argument, as a child of a test. */
import process from 'node:process'
import { runToolkitProgram } from '../../../src/toolkit/main.ts'

const [, , folder = '.', ...argv] = process.argv
process.chdir(folder)
await runToolkitProgram(argv)
