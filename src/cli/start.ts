// The first file of the built program: compiles the rest of it, which lies beside it as one script, with the help of
// the code that V8 had made of it at build time. That saves a third of a start; without such code V8 compiles as it
// goes.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Script } from 'node:vm'

/**
 * While a program starts, V8 keeps the space for new objects at its first size of 1 MB. What a start makes stays, so
 * that a larger space is of no use to it, and would take 11 MB of an idle program. `runUntilStopped` lets it grow from
 * then on.
 */
const keepNewSpaceSmall = () => setFlagsFromString('--semi-space-growth-factor=1')
keepNewSpaceSmall()

const folder = import.meta.dirname
const file = path.join(folder, 'coxswain.program.js')
const compiledFile = path.join(folder, 'coxswain.compiled')

/** As latin1, the fastest to read: outside of comments the build writes nothing but ASCII. */
const text = readFileSync(file, 'latin1')

/** The text ends with its digest. V8 itself compares no more of a text than its length, and not the processor. */
const head = `${process.version} ${process.arch} ${text.slice(-64)}\n`

/** The compiled code, if it was made of this very text by this very release of Node. */
function compiled(): Buffer | undefined {
  try {
    const bytes = readFileSync(compiledFile)
    return bytes.toString('latin1', 0, head.length) === head ? bytes.subarray(head.length) : undefined
  } catch {
    return undefined
  }
}

const script = new Script(text, { filename: file, cachedData: compiled() })

/** Keeps the code of all functions that have run by now, for later starts. */
export function keepCompiled(): void {
  // V8 takes the code only under the flags under which it was kept.
  keepNewSpaceSmall()
  writeFileSync(compiledFile, Buffer.concat([Buffer.from(head, 'latin1'), script.createCachedData()]))
}

const main = script.runInThisContext() as (require: NodeJS.Require, dirname: string) => void
main(createRequire(import.meta.url), folder)
