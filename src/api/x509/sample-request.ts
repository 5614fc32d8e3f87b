import { type WantedCertificate, makeRequest } from './make-request.ts'

export type SampleRequest = WantedCertificate

/** A PKCS#10 request for tests, and its private key. The default subject is ann. */
export const sampleRequest = (about: SampleRequest = {}): { request: string; key: string } =>
  makeRequest({ commonName: 'ann', ...about })

export const base64 = (text: string): string => Buffer.from(text).toString('base64')
