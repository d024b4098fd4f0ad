/** When alerts about what Generators and Hosts count fire, and when they do not. */
import { type AlertCase, gaugeCases } from './alert-case.ts'

const generator = 'namespace="apps",pod="mainnet-generator-0"'
const host = 'namespace="apps",pod="mainnet-host-0"'
const labelsOfGenerator = { namespace: 'apps', pod: 'mainnet-generator-0' }
const labelsOfHost = { namespace: 'apps', pod: 'mainnet-host-0' }

/** By alert. */
export const programAlerts: Readonly<Record<string, readonly AlertCase[]>> = {
  ViewmeshUpstreamDeaf: [
    {
      when: 'once nothing has been sealed for a quarter of an hour',
      series: { [`viewmesh_generator_blocks_total{${generator}}`]: '0+5x10 50x40' },
      at: 31,
      fires: [
        {
          labels: labelsOfGenerator,
          summary: 'Generator apps/mainnet-generator-0 has sealed no block for 15 minutes.',
        },
      ],
    },
    {
      when: 'not in the first quarter of an hour of a pod',
      series: { [`viewmesh_generator_blocks_total{${generator}}`]: '0x40' },
      at: 14,
      fires: [],
    },
    {
      when: 'not on a chain with a block every ten minutes',
      series: {
        [`viewmesh_generator_blocks_total{${generator}}`]: '0x9 1x9 2x9 3x9 4x9 5x9 6x9',
      },
      at: 49,
      fires: [],
    },
    {
      when: 'not for a counter that a restart sets back',
      series: { [`viewmesh_generator_blocks_total{${generator}}`]: '1000+5x30 0+5x10' },
      at: 36,
      fires: [],
    },
  ],
  ViewmeshUpstreamPolling: gaugeCases(`viewmesh_chain_websocket_connected{${generator}}`, {
    bad: '0',
    good: '1',
    minutes: 30,
    fires: [
      {
        labels: labelsOfGenerator,
        summary:
          'Generator apps/mainnet-generator-0 polls for blocks, because there is no WebSocket.',
      },
    ],
  }),
  ViewmeshHostBehind: gaugeCases(`viewmesh_host_lag_blocks{${host}}`, {
    bad: '51',
    good: '50',
    minutes: 15,
    fires: [
      { labels: labelsOfHost, summary: 'Host apps/mainnet-host-0 is 51 blocks behind its peers.' },
    ],
  }),
  ViewmeshHostStandsStill: gaugeCases(`viewmesh_host_stands_still_seconds{${host}}`, {
    bad: '121.4',
    good: '120',
    minutes: 5,
    fires: [
      {
        labels: labelsOfHost,
        summary:
          'Host apps/mainnet-host-0 has stored nothing for 121 seconds while heads of its signers went on.',
      },
    ],
  }),
  ViewmeshViewFailing: [
    ...['failed', 'quarantined'].flatMap((state) =>
      gaugeCases(`viewmesh_host_views{${host},state="${state}"}`, {
        bad: '2',
        good: '0',
        minutes: 15,
        fires: [
          {
            labels: { ...labelsOfHost, state },
            summary: `2 Views of Host apps/mainnet-host-0 are ${state}.`,
          },
        ],
      }),
    ),
    {
      when: 'not for Views in another state',
      series: Object.fromEntries(
        ['waiting', 'backfilling', 'live', 'lagging'].map((state) => [
          `viewmesh_host_views{${host},state="${state}"}`,
          '2x20',
        ]),
      ),
      at: 16,
      fires: [],
    },
  ],
  ViewmeshViewLagging: gaugeCases(`viewmesh_host_views{${host},state="lagging"}`, {
    bad: '1',
    good: '0',
    minutes: 15,
    fires: [
      {
        labels: { ...labelsOfHost, state: 'lagging' },
        summary: '1 Views of Host apps/mainnet-host-0 get done slower than blocks come.',
      },
    ],
  }),
  ViewmeshRowsDiffer: gaugeCases(
    `viewmesh_host_rows_differ_height{${host},host="02ab",view="0xcd"}`,
    {
      bad: '1234567',
      good: '0',
      minutes: 5,
      fires: [
        {
          labels: { ...labelsOfHost, host: '02ab', view: '0xcd' },
          summary:
            'Host apps/mainnet-host-0 and Host 02ab have different rows of View 0xcd, last of block 1234567.',
        },
      ],
    },
  ),
  ViewmeshLensProcessEnds: [
    {
      when: 'where it ends every other minute',
      series: {
        [`viewmesh_lens_process_restarts_total{${host}}`]: '0 0 1 1 2 2 3 3 4 4 5 5 6 6 7+1x40',
      },
      at: 45,
      fires: [
        {
          labels: labelsOfHost,
          summary:
            'The lens process of Host apps/mainnet-host-0 ended 15 times in a quarter of an hour.',
        },
      ],
    },
    {
      when: 'not where it ended five times within minutes and then runs',
      series: { [`viewmesh_lens_process_restarts_total{${host}}`]: '0x20 0+1x5 5x40' },
      at: 36,
      fires: [],
    },
    {
      when: 'not where it ends every five minutes',
      series: {
        [`viewmesh_lens_process_restarts_total{${host}}`]: '0x4 1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x4',
      },
      at: 40,
      fires: [],
    },
  ],
  ViewmeshRegistryAway: gaugeCases(`viewmesh_registry_list_age_seconds{${host}}`, {
    bad: '1800.6',
    good: '1800',
    minutes: 15,
    fires: [
      {
        labels: labelsOfHost,
        summary:
          'Host apps/mainnet-host-0 has not listed the Views of the registry chain for 1801 seconds.',
      },
    ],
  }),
  ViewmeshRegistryDeaf: gaugeCases(`viewmesh_registry_subscribed{${host}}`, {
    bad: '0',
    good: '1',
    minutes: 30,
    fires: [
      {
        labels: labelsOfHost,
        summary: 'Host apps/mainnet-host-0 finds new Views of the registry chain by listing alone.',
      },
    ],
  }),
  ViewmeshAlone: [
    ...gaugeCases(`viewmesh_p2p_peers{${generator}}`, {
      bad: '0',
      good: '1',
      minutes: 10,
      fires: [
        {
          labels: labelsOfGenerator,
          summary: 'apps/mainnet-generator-0 has no peers, or none but replicas of its own Host.',
        },
      ],
    }),
    {
      when: 'for a Host that only its siblings are connected to',
      series: {
        [`viewmesh_p2p_peers{${host}}`]: '2x20',
        [`viewmesh_host_siblings{${host}}`]: '2x20',
      },
      at: 11,
      fires: [
        {
          labels: labelsOfHost,
          summary: 'apps/mainnet-host-0 has no peers, or none but replicas of its own Host.',
        },
      ],
    },
    {
      when: 'not for a Host that has one peer beside its siblings',
      series: {
        [`viewmesh_p2p_peers{${host}}`]: '3x20',
        [`viewmesh_host_siblings{${host}}`]: '2x20',
      },
      at: 11,
      fires: [],
    },
  ],
  ViewmeshSchemaDiffers: gaugeCases(`viewmesh_host_schema_differing_fields{${host}}`, {
    bad: '2',
    good: '0',
    minutes: 10,
    fires: [
      {
        labels: labelsOfHost,
        summary:
          'Host apps/mainnet-host-0 and its Generator disagree about 2 fields of the schema.',
      },
    ],
  }),
  ViewmeshVolumeFilling: [
    ['99', true],
    ['100', false],
  ].map(([free, isFilling]) => ({
    when: isFilling ? 'with less than a tenth left' : 'not with a tenth left',
    series: {
      [`viewmesh_store_volume_free_bytes{${host}}`]: `${free}x20`,
      [`viewmesh_store_volume_bytes{${host}}`]: '1000x20',
    },
    at: 16,
    fires: isFilling
      ? [
          {
            labels: labelsOfHost,
            summary: 'The store of apps/mainnet-host-0 has less than a tenth of its volume left.',
          },
        ]
      : [],
  })),
  ViewmeshEventLoopBlocked: [
    ...gaugeCases(
      `viewmesh_service_event_loop_delay_seconds{${host},thread="main",quantile="0.99"}`,
      {
        bad: '0.75',
        good: '0.5',
        minutes: 10,
        fires: [
          {
            labels: { ...labelsOfHost, thread: 'main', quantile: '0.99' },
            summary:
              'apps/mainnet-host-0 responds slowly: its event loop is blocked for 0.75 seconds at a time.',
          },
        ],
      },
    ),
    {
      when: 'not for the longest delay alone',
      series: {
        [`viewmesh_service_event_loop_delay_seconds{${host},thread="main",quantile="1"}`]: '3x20',
      },
      at: 11,
      fires: [],
    },
  ],
}
