import { type Command, InvalidArgumentError, Option } from 'commander'
import { sloTools } from '../../cluster/index.ts'
import { sloChart, sloTable } from './slo-table.ts'

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
    .description('report service level objectives, error budgets and burn rates')
    .option('--monitor <url>', 'URL of the monitor (default: the API server, if it runs a monitor)', address)
    .option('--token-file <file>', 'file with a bearer token for the monitor')
    .option(
      '--certificate-authority <file>',
      'certificate authorities of the monitor, in PEM (default: its certificate is not verified)',
    )
    .option('--kubeconfig <file>', 'kubeconfig of the API server (default: $KUBECONFIG or ~/.kube/config, as kubectl)')
    .option(
      '--window <length>',
      'window of the latency chart: 5m, 30m, 1h, 6h, 3d, or the window of the objective',
      '1h',
    )
    .addOption(new Option('-o, --output <form>', 'output format').choices(['table', 'json']).default('table'))
  command.action(async (names: string[]) => {
    const { kubeconfig, monitor, tokenFile, certificateAuthority, window, output } = command.opts<Flags>()
    const { fetchSlos } = await sloTools()
    const report = await fetchSlos({ kubeconfig, monitor, tokenFile, certificateAuthority, release })
    const unknown = names.find((name) => !report.slos.some((slo) => slo.name === name))
    if (unknown)
      throw new Error(`objective ${unknown} not found; there are ${report.slos.map(({ name }) => name).join(', ')}`)
    const wanted = { ...report, slos: report.slos.filter(({ name }) => names.length === 0 || names.includes(name)) }
    if (output === 'json') return console.log(JSON.stringify(wanted, undefined, 2))
    console.log(sloTable(wanted).join('\n'))
    for (const slo of wanted.slos) console.log(`\n${sloChart(slo, window).join('\n')}`)
  })
}
