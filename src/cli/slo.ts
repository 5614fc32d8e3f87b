import { type Command, InvalidArgumentError, Option } from 'commander'
import { sloTools } from '../cluster/index.ts'
import { sloChart, sloTable } from './slo/slo-table.ts'

interface Flags {
  kubeconfig?: string
  monitor?: URL
  tokenFile?: string
  certificateAuthority?: string
  window: string
  output: 'table' | 'json'
}

const address = (text: string): URL => {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be an address such as https://127.0.0.1:9464')
  return new URL(text)
}

/** `coxswain slo`: the state of objectives as reported by a cluster's monitor. */
export function addSloCommand(program: Command, release: string): void {
  const command = program
    .command('slo [names...]')
    .description('how the objectives of a cluster stand, all of them without names')
    .option(
      '--monitor <url>',
      'where the monitor serves (default: the API server of a cluster that runs one itself)',
      address,
    )
    .option('--token-file <file>', 'a bearer token for the monitor')
    .option(
      '--certificate-authority <file>',
      'the certificates that vouch for the monitor (default: any certificate will do)',
    )
    .option('--kubeconfig <file>', 'how to reach the API server (default: as kubectl does)')
    .option(
      '--window <length>',
      'of which time the latencies are drawn: 5m, 30m, 1h, 6h, 3d, or the window of the objective',
      '1h',
    )
    .addOption(new Option('-o, --output <form>', 'how it is told').choices(['table', 'json']).default('table'))
  command.action(async (names: string[]) => {
    const { kubeconfig, monitor, tokenFile, certificateAuthority, window, output } = command.opts<Flags>()
    const { fetchSlos } = await sloTools()
    const report = await fetchSlos({ kubeconfig, monitor, tokenFile, certificateAuthority, release })
    const unknown = names.find((name) => !report.slos.some((slo) => slo.name === name))
    if (unknown)
      throw new Error(`there is no objective ${unknown}; there are ${report.slos.map(({ name }) => name).join(', ')}`)
    const wanted = { ...report, slos: report.slos.filter(({ name }) => names.length === 0 || names.includes(name)) }
    if (output === 'json') return console.log(JSON.stringify(wanted, undefined, 2))
    console.log(sloTable(wanted).join('\n'))
    for (const slo of wanted.slos) console.log(`\n${sloChart(slo, window).join('\n')}`)
  })
}
