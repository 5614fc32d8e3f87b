import { type Command, Option } from 'commander'
import { createToken } from '../../cluster/index.ts'
import { durationOption, something, timeoutMs } from '../flags/flag-values.ts'

interface CreateFlags {
  kubeconfig?: string
  dataDir: string
  ttl: number
  description?: string
  printJoinCommand?: 'node' | 'up'
}

/** `coxswain token`: creates bootstrap tokens, with which nodes and servers join a cluster. */
export function addTokenCommand(program: Command, release: string): void {
  const token = program
    .command('token')
    .description('create bootstrap tokens, with which nodes and servers join a cluster')
  const create = token
    .command('create')
    .description('create and print a bootstrap token')
    .addOption(
      new Option('--print-join-command [what]', 'print the command that joins a node, or a server (up)')
        .choices(['node', 'up'])
        .preset('node'),
    )
    .addOption(durationOption('--ttl <duration>', 'validity; 0 does not expire', '24h', timeoutMs))
    .option('--description <text>', 'description of the token')
    .option('--kubeconfig <file>', 'kubeconfig of the API server (default: DATA_DIR/kubeconfig)')
    .option('--data-dir <dir>', 'data directory of the API server on this machine', something, './.coxswain')
  create.action(async () => {
    const { printJoinCommand: joins, ttl: ttlMs, ...flags } = create.opts<CreateFlags>()
    const {
      token: made,
      joinCommand,
      warnings,
    } = await createToken({ ...flags, ttlMs, joins: joins ?? 'node', release })
    for (const warning of warnings) console.error(`warning: ${warning}`)
    console.log(joins ? joinCommand : made)
  })
}
