/** Writes what the builders make of each case again; check the difference before it is committed. */
import { writeFileSync } from 'node:fs'
import {
  generatorCases,
  hostCases,
  objectsFile,
  registrationCase,
  renderGenerator,
  renderHost,
  renderRegistration,
} from '../../support/resources/operator-cases.ts'

for (const name of Object.keys(generatorCases)) {
  writeFileSync(objectsFile(name), renderGenerator(name))
}
for (const name of Object.keys(hostCases)) writeFileSync(objectsFile(name), renderHost(name))
writeFileSync(objectsFile(registrationCase), renderRegistration())
