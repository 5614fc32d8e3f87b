// The entry point of the built program. It compiles the rest, a single script next to it, with the code that V8
// compiled at build time. That saves a third of a start. Without such code V8 compiles functions when they are called.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Script } from 'node:vm'

/**
 * During the start V8 keeps its space for new objects at the initial size of 1 MB. Most objects of a start remain, so a
 * larger space would not help, and would take 11 MB of an idle program. `runUntilStopped` lets it grow afterwards.
 */
const keepNewSpaceSmall = () => setFlagsFromString('--semi-space-growth-factor=1')
keepNewSpaceSmall()

const folder = import.meta.dirname
const file = path.join(folder, 'coxswain.program.js')
const compiledFile = path.join(folder, 'coxswain.compiled')

/** Latin-1 is the fastest encoding to read. Outside of comments the build writes only ASCII. */
const text = readFileSync(file, 'latin1')

/** The text ends with its digest. V8 itself compares only the length of the text, and not the processor. */
const head = `${process.version} ${process.arch} ${text.slice(-64)}\n`

/** The compiled code, if it was compiled from this text by this release of Node. */
function compiled(): Buffer | undefined {
  try {
    const bytes = readFileSync(compiledFile)
    return bytes.toString('latin1', 0, head.length) === head ? bytes.subarray(head.length) : undefined
  } catch {
    return undefined
  }
}

const script = new Script(text, { filename: file, cachedData: compiled() })

/** Stores the code of all functions that have run by now, for later starts. */
export function keepCompiled(): void {
  // V8 accepts compiled code only under the flags with which it was created.
  keepNewSpaceSmall()
  writeFileSync(compiledFile, Buffer.concat([Buffer.from(head, 'latin1'), script.createCachedData()]))
}

const main = script.runInThisContext() as (require: NodeJS.Require, dirname: string) => void
main(createRequire(import.meta.url), folder)
