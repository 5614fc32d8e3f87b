import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The text of a file that a flag names; what is wrong with it names the flag. */
export function readFlagFile(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (e) {
    throw new Error(`${flag}: ${(e as Error).message}`, { cause: e })
  }
}

/** Certificates in PEM from a file that a flag names. */
export function readCertificates(flag: string, file: string): string {
  const text = readFlagFile(flag, file)
  if (!isCertificate(text)) throw new Error(`${flag}: ${file} has no certificate in PEM form`)
  return text
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined
  } catch {
    // What Node cannot read is none, whatever is wrong with it.
    return false
  }
}
