import path from 'node:path'
import { CommanderError } from 'commander'
import { completeCommandLine, completeWord } from './completion.ts'
import { makeProgram } from './program.ts'

/** Ours, put in at build time. */
declare const RELEASE: string

/** As a plug-in of kubectl it is called by another name, and says so in its help. */
const isPlugin = path.basename(process.argv[1] ?? '').startsWith('kubectl')

const program = makeProgram(isPlugin ? 'kubectl coxswain' : 'coxswain', RELEASE)

async function run(): Promise<void> {
  try {
    if (process.argv[2] === completeWord) await completeCommandLine(program, process.argv.slice(3))
    else await program.parseAsync()
  } catch (e) {
    // Commander has said what is wrong already; all else is said in one line.
    if (!(e instanceof CommanderError)) console.error(`coxswain: ${e instanceof Error ? e.message : String(e)}`)
    process.exit(e instanceof CommanderError ? e.exitCode : 1)
  }
}

void run()
