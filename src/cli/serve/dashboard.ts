import { type Command, Option } from 'commander'
import { type LogLevel, Logger } from '../../base/logger.ts'
import { loadAccess } from '../../client/index.ts'
import { runDashboard } from '../../cluster/index.ts'
import { port } from '../flags/flag-values.ts'
import { runUntilStopped } from './run-until-stopped.ts'
import { type ConnectionFlags, addConnectionFlags } from '../session.ts'

interface ParsedFlags extends ConnectionFlags {
  port: number
  logLevel: LogLevel
}

/** `coxswain dashboard`: the dashboard for the cluster of the kubeconfig. */
export function addDashboardCommand(program: Command, release: string): void {
  const command = program
    .command('dashboard')
    .description('serve the dashboard for the cluster of the kubeconfig, on the loopback interface')
  addConnectionFlags(command)
    .option('--port <port>', 'port of the dashboard; a free one if it is in use or 0', port, 9465)
    .addOption(
      new Option('--log-level <level>', 'lowest level of log lines on stderr')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('warn'),
    )
    .action(async () => {
      const { kubeconfig, context, cluster, user, namespace, logLevel, ...flags } = command.opts<ParsedFlags>()
      const access = await loadAccess({ file: kubeconfig, context, cluster, user, namespace })
      const logger = new Logger((line) => process.stderr.write(`${line}\n`), logLevel)
      const running = await runDashboard({ access, namespace, port: flags.port, logger, release })
      const stopped = runUntilStopped({ stop: () => running.close() })
      console.log(`ready ${running.link()}`)
      console.log('The link works once. Ctrl-C stops the dashboard.')
      await stopped
    })
}
