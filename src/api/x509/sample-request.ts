import { type WantedCertificate, makeRequest } from './make-request.ts'

export type SampleRequest = WantedCertificate

/** A PKCS#10 request of ann, or of whoever is wanted, and its private key. For tests. */
export const sampleRequest = (about: SampleRequest = {}): { request: string; key: string } =>
  makeRequest({ commonName: 'ann', ...about })

export const base64 = (text: string): string => Buffer.from(text).toString('base64')
