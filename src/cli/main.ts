import path from 'node:path'
import { CommanderError } from 'commander'
import { completeCommandLine, completeWord } from './completion/command.ts'
import { makeProgram } from './program.ts'

/** The release, inserted at build time. */
declare const RELEASE: string

/** True if called as a kubectl plugin; help then shows that name. */
const isPlugin = path.basename(process.argv[1] ?? '').startsWith('kubectl')

const program = makeProgram(isPlugin ? 'kubectl coxswain' : 'coxswain', RELEASE)

async function run(): Promise<void> {
  try {
    if (process.argv[2] === completeWord) await completeCommandLine(program, process.argv.slice(3))
    else await program.parseAsync()
  } catch (e) {
    // Commander has already reported its own errors.
    if (!(e instanceof CommanderError)) console.error(`coxswain: ${e instanceof Error ? e.message : String(e)}`)
    process.exit(e instanceof CommanderError ? e.exitCode : 1)
  }
}

void run()
