/** The folder of Views, counted. */
import type { Registry } from 'prom-client'
import { declareScrapedGauges } from '../../scraped-gauge.ts'
import type { FolderReport } from './folder-report.ts'

/** Declares them in `registry`; `report` is null without a folder. */
export function declareFolderMetrics(registry: Registry, report: () => FolderReport | null): void {
  const whole = 'nothing without HOST_VIEWS_DIR.'
  declareScrapedGauges(registry, 'viewmesh_host_views_dir_', [
    ['files', `Files of Views in the folder; ${whole}`, () => report()?.files ?? null],
    ['refused_files', `Those that are not served; ${whole}`, () => report()?.refused ?? null],
    [
      'usable',
      `Whether the folder can be read: 1 or 0; ${whole}`,
      () => {
        const problem = report()?.problem
        return problem === undefined ? null : Number(problem === null)
      },
    ],
  ])
}
