import { type Command, Option } from 'commander'
import { type RulesFormat, sloTools } from '../cluster/index.ts'

/** `coxswain monitor rules`: what Prometheus and Grafana need to know of a file of objectives. */
export function addMonitorRulesCommand(monitor: Command): void {
  const command = monitor
    .command('rules <file>')
    .description('print Prometheus recording and alerting rules, or a Grafana dashboard, for a file of objectives')
    .addOption(new Option('--format <format>', 'for whom').choices(['prometheus', 'grafana'] satisfies RulesFormat[]).default('prometheus'))
  command.action(async (file: string) => {
    const { rulesOf } = await sloTools()
    process.stdout.write(await rulesOf(file, command.opts<{ format: RulesFormat }>().format))
  })
}
