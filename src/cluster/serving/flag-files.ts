import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Reads a file named by a flag; errors name the flag. */
export function readFlagFile(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (e) {
    throw new Error(`${flag}: ${(e as Error).message}`, { cause: e })
  }
}

/** Reads PEM certificates from a file named by a flag. */
export function readCertificates(flag: string, file: string): string {
  const text = readFlagFile(flag, file)
  if (!isCertificate(text)) throw new Error(`${flag}: ${file} has no certificate in PEM form`)
  return text
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined
  } catch {
    // Unparseable by Node.
    return false
  }
}
