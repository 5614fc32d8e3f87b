import { type Command, Option } from 'commander'
import { Logger } from '../../base/logger.ts'
import type { Finding } from '../../cluster/index.ts'
import { exitCodes } from '../../insight/failure.ts'
import { port, something } from '../flags/flag-values.ts'
import { addStoreFlags, readStoreFlags } from '../flags/store-flags.ts'
import { wantsColour } from '../terminal/output.ts'

interface ParsedFlags {
  securePort: number
  bindAddress: string
  output?: 'json'
}

/** Adds `doctor`. */
export function addDoctorCommand(program: Command): void {
  addStoreFlags(
    program
      .command('doctor')
      .description('check store, disk, certificates, clock, ports and runtime of a server, running or not'),
  )
    .option('--secure-port <port>', 'HTTPS port of the server', port, 6443)
    .option('--bind-address <address>', 'address of the server', something, '127.0.0.1')
    .addOption(new Option('-o, --output <format>', 'output format (default: text)').choices(['json']))
    .addHelpText('after', `\nIt changes nothing. Exit code ${exitCodes.trouble}: there is a problem.`)
    .action(async (_flags: unknown, command: Command) => {
      const { examine } = await import('../../cluster/index.ts')
      const { securePort, bindAddress, output } = command.opts<ParsedFlags>()
      const findings = await examine({
        ...readStoreFlags(command),
        securePort,
        bindAddress,
        nowMs: Date.now(),
        logger: new Logger(() => {}),
      })
      console.log(
        output === 'json'
          ? JSON.stringify({ findings }, undefined, 2)
          : linesOf(findings, process.stdout.isTTY && wantsColour(process.env)),
      )
      if (findings.some(({ level }) => level === 'problem')) process.exitCode = exitCodes.trouble
    })
}

const colours: Readonly<Record<Finding['level'], number>> = { ok: 32, warning: 33, problem: 31 }

/** Formats one line per finding. */
function linesOf(findings: readonly Finding[], hasColour: boolean): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings
    .map(({ check, level, message, help }) => {
      const shown = level.padEnd('problem'.length)
      const word = hasColour ? `\u001b[${colours[level]}m${shown}\u001b[0m` : shown
      return `${word}  ${check.padEnd(width)}  ${message}${help === undefined ? '' : `. ${help}`}`
    })
    .join('\n')
}
