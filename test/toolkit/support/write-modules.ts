/** Writes one of two modules again and again to the file that is its argument, until it is killed. */
import process from 'node:process'
import { writeModule } from '../../../src/toolkit/typescript/write-module.ts'
import { modulesToWrite } from './modules-to-write.ts'

const [, , path = ''] = process.argv
process.stdout.write('writing\n')
for (let round = 0; ; round += 1)
  await writeModule(path, modulesToWrite[round % 2] ?? '', { force: false })
