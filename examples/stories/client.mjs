/** The client of the server that FERMATA_URL and FERMATA_KEY name. */
import { createClient } from '@fermata/client';

const { FERMATA_URL: url = 'http://127.0.0.1:7070', FERMATA_KEY: key = '' } = process.env;
export const client = createClient({ url, key });
