import { type Command, Option } from 'commander'
import { createToken } from '../cluster/index.ts'
import { durationOption, something, timeoutMs } from './flags/flag-values.ts'

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
    .description('make bootstrap tokens, with which nodes and servers join a cluster')
  const create = token
    .command('create')
    .description('make a bootstrap token, and print it')
    .addOption(
      new Option(
        '--print-join-command [what]',
        'print the command that joins with it: of a node, or of a server with everything',
      )
        .choices(['node', 'up'])
        .preset('node'),
    )
    .addOption(durationOption('--ttl <duration>', 'how long it can be used; 0 for ever', '24h', timeoutMs))
    .option('--description <text>', 'what it is for')
    .option('--kubeconfig <file>', 'how to reach the API server (default: DATA_DIR/kubeconfig)')
    .option('--data-dir <dir>', 'where the API server of this machine keeps everything', something, './.coxswain')
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
