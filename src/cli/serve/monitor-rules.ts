import { type Command, InvalidArgumentError, Option } from 'commander'
import { type RulesFormat, sloTools } from '../../cluster/index.ts'
import { list } from '../flags/flag-values.ts'

interface Flags {
  format: RulesFormat
  namespace: string
  objectLabels: Record<string, string>
}

/** Flags of `coxswain monitor`, which commander accepts anywhere on the command line. */
interface MonitorsFlags {
  cluster?: string
  creationTimeout: number
}

const labels = (text: string): Record<string, string> =>
  Object.fromEntries(
    list(text).map((one) => {
      const [, name, value] = /^([^=]+)=(.*)$/.exec(one) ?? []
      if (name === undefined) throw new InvalidArgumentError('must be such as release=prometheus,team=infra')
      return [name, value!]
    }),
  )

/** `coxswain monitor rules`: converts objectives for Prometheus, its operator and Grafana. */
export function addMonitorRulesCommand(monitor: Command): void {
  const command = monitor
    .command('rules <file>')
    .description('print Prometheus rules or a Grafana dashboard for a file of objectives')
    .addOption(
      new Option(
        '--format <format>',
        'prometheus: file of rules; operator: PrometheusRule and ServiceMonitor; grafana: dashboard',
      )
        .choices(['prometheus', 'operator', 'grafana'] satisfies RulesFormat[])
        .default('prometheus'),
    )
    .option('--namespace <name>', "namespace of the operator's objects and of the monitor", 'monitoring')
    .option('--object-labels <labels>', "labels of the operator's objects, such as release=prometheus", labels, {})
    .addHelpText(
      'after',
      `
Two flags of the monitor apply:
  --cluster <name>               select series with this value of the label cluster, which the ServiceMonitor adds
  --creation-timeout <duration>  upper limit of thresholds (default: 5m)`,
    )
  command.action(async (file: string) => {
    const { rulesOf } = await sloTools()
    const { format, namespace, objectLabels } = command.opts<Flags>()
    const { cluster, creationTimeout } = monitor.opts<MonitorsFlags>()
    process.stdout.write(
      await rulesOf(file, { format, cluster, namespace, labels: objectLabels, creationTimeoutMs: creationTimeout }),
    )
  })
}
