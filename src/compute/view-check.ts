/** What is refused of a View before it is kept: all that its bytes, the schema of the chain and its modules show. */
import { createViewSchemaCheck } from '../graphql/schema/view-schema-check.ts'
import { createViewSelector } from '../graphql/selection/view-selection.ts'
import { checkModules } from '../lens/view-modules.ts'
import { type RegisteredView, type Registration, readRegistration } from '../views/registration.ts'
import type { View } from '../views/view.ts'
import { decodeView } from '../views/wire.ts'

/** A View that passed: as it was registered, and with its modules. */
interface PassedView {
  readonly view: RegisteredView
  readonly source: View
}

/**
 * The check for the chain `network`, as in `Ethereum__Mainnet`; of a View of another one only its own texts are checked.
 * It throws what is wrong with a View. It compiles and runs nothing of a module: that is for the lens process.
 */
export function createViewCheck(network: string): (registration: Registration) => PassedView {
  const selector = createViewSelector(network)
  const checkSchema = createViewSchemaCheck(network)
  return (registration) => {
    const source = decodeView(registration.wire)
    const view = readRegistration(registration, source, network)
    if (view.query !== null) {
      selector.compile(view.query)
      checkSchema(view.rowType)
      checkModules(source.lenses)
    }
    return { view, source }
  }
}
