/** Gauges whose value is looked up when somebody asks for it, as every room declares them. */
import { Gauge, type Registry } from 'prom-client'

/** Declares a gauge that shows what `read` returns at each scrape; nothing where that is null. */
export function declareScrapedGauge(
  registry: Registry,
  { name, help, read }: { readonly name: string; readonly help: string; read(): number | null },
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      const value = read()
      if (value === null) this.remove()
      else this.set(value)
    },
  })
}

/** Declares gauges whose names begin alike, each a name without the prefix, its help and its value. */
export function declareScrapedGauges(
  registry: Registry,
  prefix: string,
  gauges: readonly (readonly [name: string, help: string, read: () => number | null])[],
): void {
  for (const [name, help, read] of gauges)
    declareScrapedGauge(registry, { name: `${prefix}${name}`, help, read })
}
