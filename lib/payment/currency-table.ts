// Written by scripts/generate-currencies.js (npm run currencies). Do not edit it by hand.

/** Number and letters of each currency, and its decimals where they are not 2. */
const ROWS = `
8 ALL, 12 DZD, 32 ARS, 36 AUD, 44 BSD, 48 BHD 3, 50 BDT, 51 AMD, 52 BBD, 60 BMD, 64 BTN, 68 BOB, 72 BWP, 84 BZD,
90 SBD, 96 BND, 104 MMK, 108 BIF 0, 116 KHR, 124 CAD, 132 CVE, 136 KYD, 144 LKR, 152 CLP 0, 156 CNY, 170 COP,
174 KMF 0, 188 CRC, 192 CUP, 203 CZK, 208 DKK, 214 DOP, 222 SVC, 230 ETB, 232 ERN, 238 FKP, 242 FJD, 262 DJF 0,
270 GMD, 292 GIP, 320 GTQ, 324 GNF 0, 328 GYD, 332 HTG, 340 HNL, 344 HKD, 348 HUF, 352 ISK 0, 356 INR, 360 IDR,
364 IRR, 368 IQD 3, 376 ILS, 388 JMD, 392 JPY 0, 396 XAD, 398 KZT, 400 JOD 3, 404 KES, 408 KPW, 410 KRW 0, 414 KWD 3,
417 KGS, 418 LAK, 422 LBP, 426 LSL, 430 LRD, 434 LYD 3, 446 MOP, 454 MWK, 458 MYR, 462 MVR, 480 MUR, 484 MXN,
496 MNT, 498 MDL, 504 MAD, 512 OMR 3, 516 NAD, 524 NPR, 532 XCG, 533 AWG, 548 VUV 0, 554 NZD, 558 NIO, 566 NGN,
578 NOK, 586 PKR, 590 PAB, 598 PGK, 600 PYG 0, 604 PEN, 608 PHP, 634 QAR, 643 RUB, 646 RWF 0, 654 SHP, 682 SAR,
690 SCR, 702 SGD, 704 VND 0, 706 SOS, 710 ZAR, 728 SSP, 748 SZL, 752 SEK, 756 CHF, 760 SYP, 764 THB, 776 TOP,
780 TTD, 784 AED, 788 TND 3, 800 UGX 0, 807 MKD, 818 EGP, 826 GBP, 834 TZS, 840 USD, 858 UYU, 860 UZS, 882 WST,
886 YER, 901 TWD, 924 ZWG, 925 SLE, 926 VED, 927 UYW 4, 928 VES, 929 MRU, 930 STN, 933 BYN, 934 TMT, 936 GHS,
938 SDG, 940 UYI 0, 941 RSD, 943 MZN, 944 AZN, 946 RON, 947 CHE, 948 CHW, 949 TRY, 950 XAF 0, 951 XCD, 952 XOF 0,
953 XPF 0, 967 ZMW, 968 SRD, 969 MGA, 970 COU, 971 AFN, 972 TJS, 973 AOA, 976 CDF, 977 BAM, 978 EUR, 979 MXV,
980 UAH, 981 GEL, 984 BOV, 985 PLN, 986 BRL, 990 CLF 4, 997 USN
`;

/** The letters of a currency, and how many decimals its amounts can have. */
type Currency = readonly [letters: string, decimals: number];

/** The currencies of ISO 4217 by their numbers: the list of 2024-06-25, amended up to number 180. */
export const CURRENCIES: ReadonlyMap<number, Currency> = new Map(
  ROWS.trim()
    .split(/,\s*/)
    .map((row) => {
      const [number, letters = '', decimals = '2'] = row.split(' ');
      return [Number(number), [letters, Number(decimals)]];
    }),
);
