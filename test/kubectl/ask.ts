import https from 'node:https'

/** Reads a page of a process, without verifying its certificate. */
export const ask = (url: string, path: string): Promise<{ code: number; text: string }> =>
  new Promise((resolve, reject) => {
    https
      .get(new URL(path, url), { rejectUnauthorized: false, agent: false }, async (response) => {
        let text = ''
        for await (const chunk of response) text += String(chunk)
        resolve({ code: response.statusCode ?? 0, text })
      })
      .on('error', reject)
  })
