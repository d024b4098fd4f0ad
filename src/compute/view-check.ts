/** What is refused of a View before it is kept: what only the schema of the chain and the modules themselves show. */
import { createViewSelector } from '../graphql/selection/view-selection.ts'
import { checkAbi } from '../lens/abi-check.ts'
import { checkModule } from '../lens/module-check.ts'
import type { RegisteredView } from '../views/registration.ts'
import type { View } from '../views/view.ts'

/**
 * The check for the chain `network`, as in `Ethereum__Mainnet`. It compiles and runs nothing of a module: that is for
 * the lens process.
 */
export function createViewCheck(
  network: string,
): (view: Pick<RegisteredView, 'query'>, source: View) => void {
  const selector = createViewSelector(network)
  return ({ query }, { lenses }) => {
    if (query === null) return
    selector.compile(query)
    for (const { wasm } of lenses) checkAbi(checkModule(wasm))
  }
}
